package lists

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

const (
	lockName = "lock"
	// goneSuffix ends the names of files that keep a number taken.
	goneSuffix = ".gone"
	// maxFile is more than any file of a task has, in bytes.
	maxFile = 1 << 20
)

// shelf is the directory of a list, as one who has its lock finds it.
type shelf struct {
	*graph
	dir string
	// highest is the highest number that was ever given.
	highest int
	// gone are the numbers that files keep taken.
	gone  []int
	notes []string
	step  func(string)
}

// at tells of a step.
func (s *shelf) at(step string) {
	if s.step != nil {
		s.step(step)
	}
}

// fileName finds the files that have a number.
var fileName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([1-9][0-9]{0,8})(\.json|\.gone|\.damaged)$`)
})

// with reads a list and does something with it. Whoever has the lock mends what is not
// whole.
func (t *Tasks) with(dir string, locked bool, do func(*shelf) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	s := &shelf{dir: dir, step: t.step}
	items := make(map[int]*item)
	for _, e := range entries {
		if err := t.take(s, items, e.Name(), locked); err != nil {
			return err
		}
	}
	s.graph = newGraph(items)
	return do(s)
}

// take reads one file.
func (t *Tasks) take(s *shelf, items map[int]*item, name string, locked bool) error {
	path := filepath.Join(s.dir, name)
	if locked && atomicfile.IsTemporary(name) {
		_ = os.Remove(path) // of a process that was killed: it is tried again
	}
	parts := fileName().FindStringSubmatch(name)
	if parts == nil {
		return nil
	}
	id, _ := strconv.Atoi(parts[1])
	s.highest = max(s.highest, id)
	switch parts[2] {
	case goneSuffix:
		s.gone = append(s.gone, id)
	case keptSuffix:
		i := new(item)
		err := readRecord(path, maxFile, i)
		if err == nil && i.ID != id {
			err = fmt.Errorf("%s: %w", path, damaged(fmt.Errorf("it says that it is task %d", i.ID)))
		}
		switch {
		case err == nil:
			items[id] = i
		case errors.Is(err, errDamaged):
			t.mend(s, id, path, locked, err)
		case !errors.Is(err, fs.ErrNotExist): // without the lock it may just have been deleted
			return err
		}
	}
	return nil
}

// mend puts a damaged file aside.
func (t *Tasks) mend(s *shelf, id int, path string, locked bool, fault error) {
	note := fmt.Sprintf("task %d is lost: %v", id, fault)
	if locked {
		if aside, err := putAside(path); err == nil {
			note += "; it was put aside as " + aside
		}
	}
	t.log.Warn("a task's file is damaged", "file", path, "error", fault)
	s.notes = append(s.notes, note)
}

func (s *shelf) path(id int, suffix string) string {
	return filepath.Join(s.dir, strconv.Itoa(id)+suffix)
}

// number gives a new task the next number.
func (s *shelf) number(i *item) error {
	if len(s.items) >= MaxTasks {
		return abi.Errorf(abi.CodeLimit, "there are %d tasks, and there can be no more: delete those that are done", len(s.items))
	}
	if s.highest >= maxID {
		return abi.Errorf(abi.CodeLimit, "the numbers of tasks are used up")
	}
	s.highest++
	i.ID = s.highest
	return nil
}

// reserve gives a new task a number that stays taken.
func (s *shelf) reserve(i *item) error {
	if err := s.number(i); err != nil {
		return err
	}
	if err := s.keepTaken(i.ID); err != nil {
		return fmt.Errorf("%w; no task was made", err)
	}
	return nil
}

// keepTaken has a number stay taken, whatever becomes of its task.
func (s *shelf) keepTaken(id int) error {
	s.at("before the number is taken")
	defer s.at("after the number is taken")
	f, _, err := privatedir.OpenOwn(s.path(id, goneSuffix), os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return atomicfile.SyncDir(s.dir)
}

// add puts a new task down.
func (s *shelf) add(i *item) error {
	if i.ID == 0 {
		if err := s.number(i); err != nil {
			return err
		}
	}
	if err := s.write(i); err != nil {
		return fmt.Errorf("%w; no task was made", err)
	}
	s.at("before numbers are given up")
	for _, id := range s.gone { // a task has that number, or a higher one
		if id <= i.ID {
			_ = os.Remove(s.path(id, goneSuffix)) // one that stays does no harm
		}
	}
	return nil
}

func (s *shelf) write(i *item) error {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false) // with which metadata would be larger than was checked
	if err := e.Encode(i); err != nil {
		return abi.Errorf(abi.CodeInvalidInput, "%w", err)
	}
	s.at("before the write")
	defer s.at("after the write")
	if err := atomicfile.Write(s.path(i.ID, keptSuffix), raw.Bytes(), 0o600); err != nil {
		return err
	}
	return atomicfile.SyncDir(s.dir)
}

// put puts a change of a task down.
func (s *shelf) put(u *update) error {
	switch {
	case u.To == abi.WorkDeleted:
		return s.delete(u.was.ID)
	case len(u.Fields) == 0:
		return nil
	}
	if err := s.write(u.now); err != nil {
		return fmt.Errorf("%w; task %d is as it was", err, u.was.ID)
	}
	return nil
}

// delete removes a task. The edges that others have to it count no more.
func (s *shelf) delete(id int) error {
	if id == s.highest {
		if err := s.keepTaken(id); err != nil {
			return fmt.Errorf("%w; task %d is still there", err, id)
		}
	}
	s.at("before the removal")
	defer s.at("after the removal")
	if err := os.Remove(s.path(id, keptSuffix)); err != nil {
		return fmt.Errorf("%w; task %d is still there", err, id)
	}
	return atomicfile.SyncDir(s.dir)
}
