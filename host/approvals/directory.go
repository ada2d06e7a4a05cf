package approvals

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/atomicfile"
)

// directory holds the files of a store: for each question a file, and beside it one for its
// answer and an empty one that says that the answer was used.
type directory string

// names lists the files of a store that a function picks, or all.
func (d directory) names(pick func(name) bool) ([]name, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, fmt.Errorf("the approvals: %w", err)
	}
	var names []name
	for _, entry := range entries {
		if n, ok := parseName(entry.Name()); ok && (pick == nil || pick(n)) {
			names = append(names, n)
		}
	}
	return names, nil
}

// find is the question of an id.
func (d directory) find(id string) (name, error) {
	if !validID(id) {
		return name{}, fmt.Errorf("%.80q is not the id of an approval", id)
	}
	found, err := d.names(func(n name) bool { return n.kind == kindQuestion && n.id == id })
	switch {
	case err != nil:
		return name{}, err
	case len(found) == 0:
		return name{}, fmt.Errorf("%s: %w", id, ErrUnknown)
	case len(found) > 1:
		return name{}, fmt.Errorf("%s has several questions %s", d, id)
	}
	return found[0], nil
}

func (d directory) path(n name) string { return filepath.Join(string(d), n.file()) }

// load reads a question and finds out what became of it.
func (d directory) load(n name) (Item, error) {
	item := Item{State: StatePending}
	if err := d.readJSON(n, &item.Record); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Item{}, fmt.Errorf("%s: %w", n.id, ErrUnknown)
		}
		return Item{}, err
	}
	if err := item.check(n); err != nil {
		return Item{}, fmt.Errorf("%s: %w", d.path(n), err)
	}
	err := d.readJSON(n.of(kindAnswer), &item.Answer)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Item{}, err
	}
	_, usedErr := os.Lstat(d.path(n.of(kindUsed)))
	item.State, err = stateOf(&item, usedErr == nil, time.Now())
	if err != nil {
		return Item{}, fmt.Errorf("%s: %w", d.path(n.of(kindAnswer)), err)
	}
	return item, nil
}

func stateOf(i *Item, used bool, now time.Time) (State, error) {
	switch {
	case used:
		return StateUsed, nil
	case !now.Before(i.Expires):
		return StateExpired, nil
	}
	switch i.Answer.Answer {
	case "":
		return StatePending, nil
	case host.AnswerAllow:
		return StateAllowed, nil
	case host.AnswerDeny:
		return StateDenied, nil
	case answerReplaced:
		return StateReplaced, nil
	case host.AnswerLater:
	}
	return "", fmt.Errorf("unknown answer %q", i.Answer.Answer)
}

func (d directory) readJSON(n name, v any) error {
	content, err := readRegular(d.path(n))
	if err != nil {
		return err
	}
	if err := abi.Unmarshal(content, v); err != nil {
		return fmt.Errorf("%s: %w", d.path(n), err)
	}
	return nil
}

// putAnswer puts an answer there, unless there is one, or the question is gone.
func (d directory) putAnswer(n name, a Answer) (won bool, err error) {
	content, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	temporary := d.path(temporaryName())
	if err := atomicfile.Write(temporary, content, fileMode); err != nil {
		return false, err
	}
	err = os.Link(temporary, d.path(n.of(kindAnswer)))
	if errors.Is(err, fs.ErrExist) {
		return false, os.Remove(temporary)
	}
	if err := errors.Join(err, os.Remove(temporary)); err != nil {
		return false, fmt.Errorf("keeping the answer: %w", err)
	}
	// Another process may have used the answer that was there, and taken all of it away,
	// before this one looked: the question then seemed open.
	if _, err := os.Lstat(d.path(n)); err != nil {
		return false, unlink(d.path(n.of(kindAnswer)))
	}
	return true, d.sync()
}

// use uses an answer up, unless somebody else did, or the question is gone.
func (d directory) use(n name) (won bool, err error) {
	used := d.path(n.of(kindUsed))
	f, err := os.OpenFile(used, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := errors.Join(f.Close(), d.sync()); err != nil {
		return false, err
	}
	// Another process may have used it, and taken all of it away, since this one
	// read the question.
	if _, err := os.Lstat(d.path(n)); err != nil {
		return false, os.Remove(used)
	}
	return true, nil
}

// remove takes a question away with all that belongs to it. The order, and that
// it reaches the disk, is what keeps an answer from coming back.
func (d directory) remove(n name) error {
	if err := errors.Join(unlink(d.path(n.of(kindQuestion))), d.sync()); err != nil {
		return err
	}
	return errors.Join(unlink(d.path(n.of(kindAnswer))), unlink(d.path(n.of(kindUsed))))
}

// unlink removes a file that another process may have removed already.
func unlink(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sync makes what was made and taken away outlast a loss of power. Not every system can
// sync a directory.
func (d directory) sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	return err
}
