package lists

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Approve is asked before a task comes to be, or is completed; its error is why that is
// refused. It may take long: others use the list meanwhile.
type Approve func(ctx context.Context, task abi.WorkItem) error

// Tasks is one list of tasks, in a directory that processes may share. It is safe for
// concurrent use.
type Tasks struct {
	place Place
	log   *slog.Logger
	// step is told of each step of a change; nil but in tests that end the process there.
	step func(string)
}

// Place is the directory of a list.
type Place struct {
	// Path is where it is, or will be; empty is nowhere yet. Make makes it where it is
	// missing, closed to other users.
	Path func() string
	Make func() error
}

// NewTasks returns the list in a directory, which is made when the first task is.
func NewTasks(at Place, log *slog.Logger) *Tasks { return &Tasks{place: at, log: log} }

// Listed are the tasks of a list in the order of their numbers, and what else is to be
// known.
type Listed struct {
	Tasks []abi.WorkItem
	Notes []string
}

// listed are all tasks.
func (s *shelf) listed() Listed {
	l := Listed{Notes: s.notes}
	for _, id := range s.order {
		l.Tasks = append(l.Tasks, *s.task(id))
	}
	return l
}

// All returns all tasks.
func (t *Tasks) All(ctx context.Context) (Listed, error) {
	var l Listed
	err := t.look(ctx, func(s *shelf) error {
		l = s.listed()
		return nil
	})
	return l, err
}

// Open returns the tasks as a model is shown them: without the internal ones, which it
// counts, and without descriptions, metadata, and the completed tasks that each waited for.
func (t *Tasks) Open(ctx context.Context) (l Listed, hidden int, err error) {
	l.Tasks = []abi.WorkItem{} // which JSON has as a list
	err = t.look(ctx, func(s *shelf) error {
		for _, id := range s.order {
			if s.items[id].internal() {
				hidden++
				continue
			}
			task := s.task(id)
			task.Description, task.Metadata, task.BlockedBy = "", nil, names(s.open(id))
			l.Tasks = append(l.Tasks, *task)
		}
		l.Notes = s.notes
		return nil
	})
	return l, hidden, err
}

// Get returns a task; nil where there is none of the id, and then a note says which there
// are.
func (t *Tasks) Get(ctx context.Context, id string) (task *abi.WorkItem, notes []string, err error) {
	err = t.look(ctx, func(s *shelf) error {
		task, notes = s.task(parseID(id)), s.notes
		if task == nil {
			notes = append(notes, s.unknown("taskId", id).Message)
		}
		return nil
	})
	return task, notes, err
}

// Create adds a task. With approve its number is taken first, and the task comes to be
// when approve has agreed.
func (t *Tasks) Create(ctx context.Context, c *abi.WorkChange, approve Approve) (abi.WorkItem, error) {
	i, err := newItem(c)
	if err != nil {
		return abi.WorkItem{}, err
	}
	if approve == nil {
		return t.add(ctx, i)
	}
	if err := t.change(ctx, func(s *shelf) error { return s.reserve(i) }); err != nil {
		return abi.WorkItem{}, err
	}
	alone := newGraph(map[int]*item{i.ID: i})
	if err := approve(ctx, *alone.task(i.ID)); err != nil {
		return *alone.task(i.ID), err
	}
	return t.add(ctx, i)
}

// add puts a new task down, under a number of its own unless it has one.
func (t *Tasks) add(ctx context.Context, i *item) (task abi.WorkItem, err error) {
	err = t.change(ctx, func(s *shelf) error {
		if err := s.add(i); err != nil {
			return err
		}
		task = *newGraph(map[int]*item{i.ID: i}).task(i.ID)
		return nil
	})
	return task, err
}

// newItem is a new task.
func newItem(c *abi.WorkChange) (*item, error) {
	i := &item{Version: version, Status: abi.WorkPending}
	u := &update{was: i, now: i}
	u.texts(c)
	u.metadata(c.Metadata)
	if c.Status != nil || len(c.AddBlocks)+len(c.AddBlockedBy) > 0 {
		return nil, abi.Errorf(abi.CodeInvalidInput, "a new task is pending and has no edges; update it to change that")
	}
	if err := i.check(); err != nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "%w", err)
	}
	return i, nil
}

// Update changes a task for an agent. With approve, which is asked about a task that would
// become completed, the change is made when it has agreed, all of it or nothing.
func (t *Tasks) Update(ctx context.Context, id string, c *abi.WorkChange, by string, approve Approve) (Updated, error) {
	if approve != nil && c.Status != nil && *c.Status == abi.WorkCompleted {
		if u, err := t.completing(ctx, id, c, by, approve); err != nil {
			return u, err
		}
	}
	var done Updated
	err := t.change(ctx, func(s *shelf) error {
		u, err := newUpdate(s.graph, id, c, by)
		if err != nil {
			return err
		}
		done = u.Updated
		done.Notes = append(s.notes, done.Notes...)
		return s.put(u)
	})
	return done, err
}

// completing asks about a task that would become completed. Where that is refused the
// task is returned as it is.
func (t *Tasks) completing(ctx context.Context, id string, c *abi.WorkChange, by string, approve Approve) (is Updated, err error) {
	var would *update
	err = t.look(ctx, func(s *shelf) error {
		if would, err = newUpdate(s.graph, id, c, by); err == nil {
			is.Task = *s.task(would.was.ID)
		}
		return err
	})
	if err != nil || would.To != abi.WorkCompleted {
		return is, err
	}
	return is, approve(ctx, would.Task)
}

// change does something with the list that may change it, while nobody else does.
func (t *Tasks) change(ctx context.Context, do func(*shelf) error) error {
	err := t.place.Make()
	if err == nil {
		dir := t.place.Path()
		err = privatedir.Locked(ctx, filepath.Join(dir, lockName), func() error { return t.with(dir, true, do) })
	}
	return ioError("the list of tasks could not be changed", err)
}

// look does something with the list that does not change it. A directory that nothing can
// be written in is read without the lock.
func (t *Tasks) look(ctx context.Context, do func(*shelf) error) error {
	dir := t.place.Path()
	if dir == "" {
		return do(&shelf{graph: newGraph(nil)})
	}
	_, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = do(&shelf{graph: newGraph(nil)})
	case err == nil:
		err = privatedir.Locked(ctx, filepath.Join(dir, lockName), func() error { return t.with(dir, true, do) })
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			err = t.with(dir, false, do)
		}
	}
	return ioError("the list of tasks cannot be read", err)
}

// ioError says what failed; an error with a code says so itself.
func ioError(what string, err error) error {
	var coded *abi.Error
	if err == nil || errors.As(err, &coded) || errors.Is(err, context.Canceled) {
		return err
	}
	return abi.Errorf(abi.CodeIO, "%s: %w", what, err)
}

// Read returns the tasks in a directory, whether or not somebody uses it. It changes
// nothing, and what is damaged is left out, with a note.
func Read(dir string) (Listed, error) {
	var l Listed
	err := (&Tasks{log: slog.New(slog.DiscardHandler)}).with(dir, false, func(s *shelf) error {
		l = s.listed()
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return Listed{}, nil
	}
	return l, err
}
