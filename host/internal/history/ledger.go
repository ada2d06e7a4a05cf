package history

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/checkline"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// A ledger's file name is its id between ledgerLead and ledgerEnd.
const ledgerLead, ledgerEnd = "watch-", ".jsonl"

// ledger is the file in which a [Watch] notes what it keeps. It is locked while the command runs. Other processes
// read from it what the command has changed so far. If the host is killed, they make the command's records from it.
// It is not fsynced: a power failure before the command's end loses the undo.
type ledger struct {
	id   string
	time time.Time // of the first line; set only when the ledger is read
	file *os.File  // nil before the first line, and if the file cannot be written
	err  error
}

// entry is a line of a ledger. The first line, with Begun, names the call.
type entry struct {
	Call  string    `json:"call,omitempty"`
	Tool  string    `json:"tool,omitempty"`
	Time  time.Time `json:"time,omitzero"`
	Begun bool      `json:"begun,omitempty"`

	Path changes.Name `json:"path,omitempty"`
	// Place is a path where the content may be now. A line that adds a place has no fields but Path and Place.
	Place  changes.Name  `json:"place,omitempty"`
	Was    *changes.Node `json:"was,omitempty"`
	Stamp  stamp         `json:"stamp,omitzero"`
	Inline []byte        `json:"inline,omitempty"`
	Lost   string        `json:"lost,omitempty"`
}

// write appends a line to the ledger, and makes the file before the first one. After a failure it writes nothing
// more, and returns the same error.
func (j *ledger) write(w *Watch, e *entry) error {
	if j.file == nil && j.err == nil {
		j.err = j.begin(w)
	}
	if j.err == nil {
		j.err = j.append(e)
	}
	return j.err
}

func (j *ledger) append(e *entry) error {
	text, err := checkline.Encode(e, maxLine)
	if err == nil {
		_, err = j.file.Write(text)
	}
	return err
}

// begin makes the file. It gets its name only when it is locked, so that no process takes it for the ledger of a
// killed host.
func (j *ledger) begin(w *Watch) error {
	s := w.store
	if err := s.begin(context.Background()); err != nil {
		return err
	}
	log, _, err := privatedir.OpenOwn(filepath.Join(s.dir.path, changes.LogName), os.O_RDWR|os.O_CREATE) // sessions are found by it
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir.path, temporary+"*")
	if err != nil {
		return err
	}
	j.id = strings.TrimPrefix(filepath.Base(f.Name()), temporary)
	if err = filelock.Try(f); err == nil {
		j.file = f
		err = j.append(&entry{Call: w.call.ID, Tool: w.call.Tool, Time: time.Now().UTC(), Begun: true})
	}
	if err == nil {
		err = os.Rename(f.Name(), ledgerPath(s.dir.path, j.id))
	}
	if err != nil {
		j.file = nil
		return errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	return nil
}

func ledgerPath(dir, id string) string { return filepath.Join(dir, ledgerLead+id+ledgerEnd) }

// end removes the file. The log has all its content by then.
func (j *ledger) end(dir string) error {
	if j.file == nil {
		return nil
	}
	err := os.Remove(ledgerPath(dir, j.id))
	filelock.Unlock(j.file)
	err = errors.Join(err, j.file.Close())
	j.file = nil
	return err
}

// leave closes the file but does not remove it, because the log could not take its content: [Store.catchUp] tries
// again later.
func (j *ledger) leave() {
	if j.file != nil {
		filelock.Unlock(j.file)
		_ = j.file.Close() // its lines were written
		j.file = nil
	}
}

// ledgers returns the ids of the ledgers in a directory.
func ledgers(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(escaped(dir), ledgerLead+"*"+ledgerEnd))
	ids := make([]string, 0, len(paths))
	for _, path := range paths {
		name := filepath.Base(path)
		ids = append(ids, name[len(ledgerLead):len(name)-len(ledgerEnd)])
	}
	return ids, err
}

// escaped returns a glob pattern that matches only the path.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// catchUp makes records for commands whose host was killed, and returns watches of the commands that still run.
// Running commands of this process get no records either: a program may go on writing to a file that it has open,
// and such writes are not reported.
func (s *Store) catchUp(ctx context.Context) (running []*Watch, err error) {
	ids, err := ledgers(s.dir.path)
	for _, id := range ids {
		w, live, fault := s.reopen(id)
		switch {
		case errors.Is(fault, os.ErrNotExist):
		case fault != nil:
			err = errors.Join(err, fault)
		case live:
			running = append(running, w)
		default:
			w.gaps.add("Toolquay was killed while the command ran", "")
			w.settle(ctx)
		}
	}
	return running, err
}

// settleRunning records the changes that running commands of this process have made so far.
func (s *Store) settleRunning(ctx context.Context) {
	s.watches.Range(func(w, _ any) bool {
		w.(*Watch).settleNow(ctx) //nolint:errcheck,forcetypeassert // it holds nothing else
		return true
	})
}

func (w *Watch) settleNow(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(ctx)
}

// reopen reads a ledger. live says that its command still runs. The error wraps [os.ErrNotExist] if the command has
// just ended.
func (s *Store) reopen(id string) (w *Watch, live bool, err error) {
	f, _, err := privatedir.OpenOwn(ledgerPath(s.dir.path, id), os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	s.moment("ledger")
	live = filelock.Try(f) != nil
	if _, err := os.Lstat(ledgerPath(s.dir.path, id)); err != nil { // the command has just ended, and the log has everything
		return nil, false, errors.Join(err, f.Close())
	}
	w = newWatch(s)
	w.ledger, w.replayed = ledger{id: id, file: f}, true
	err = w.replay(f)
	if live || err != nil {
		w.ledger.file = nil
		err = errors.Join(err, f.Close())
	}
	return w, live, err
}

// replay reads the entries of a ledger into the watch.
func (w *Watch) replay(f *os.File) error {
	lines := bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), maxLine+1)
	for {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
			return nil // the last line is incomplete
		}
		if err != nil {
			return err
		}
		var e entry
		if !checkline.Decode(text[:len(text)-1], &e) {
			w.gaps.add("the record of the running command was damaged", "")
			continue
		}
		w.take(&e)
	}
}

// take applies an entry of a ledger to the watch.
func (w *Watch) take(e *entry) {
	if e.Begun {
		w.call.ID, w.call.Tool, w.ledger.time = e.Call, e.Tool, e.Time
		return
	}
	t := w.touched[string(e.Path)]
	switch place := string(e.Place); {
	case t == nil || place == "":
		t = &touched{path: string(e.Path), was: e.Was, stamp: e.Stamp, inline: e.Inline, lost: e.Lost}
	case slices.Contains(t.places, place): // it is noted already: the content was not found there
		return
	}
	if e.Place != "" {
		t.places = append(t.places, string(e.Place))
	}
	if t.saved() && t.was.Is(changes.File) && !isUnread(t.was) && len(t.inline) == 0 {
		w.held = append(w.held, t.was.Hash)
	}
	w.touched[t.path] = t
}
