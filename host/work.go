package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/lists"
	"github.com/toolquay/toolquay/host/internal/storage"
)

// Todos is the list of todos of the session's agent, as tools of the capability session.todo
// keep it.
func (s *Session) Todos() ([]abi.Todo, error) {
	c, err := s.core.Storage.Lists().Todos.Get(s.options.Caller.Agent)
	return c.Todos, err
}

// Work lists the tasks that the agents of the session, or of its team, share, in the order of
// their numbers. They are not background tasks, which [Session.Tasks] lists: nothing runs for
// them.
func (s *Session) Work(ctx context.Context) ([]abi.WorkItem, error) {
	l, err := s.core.Storage.Lists().Tasks.All(ctx)
	return l.Tasks, err
}

// KeptWork are the lists of work in a directory.
type KeptWork struct {
	// Todos are the lists of todos by agents; those of a team are with the sessions of its
	// agents.
	Todos map[string][]abi.Todo
	// Tasks are in the order of their numbers.
	Tasks []abi.WorkItem
	// Notes say what could not be read, for people.
	Notes []string
}

// ReadWork reads the lists of work of a session from its directory, or of a team from
// [TeamDir], also while others use them. It changes nothing.
func ReadWork(dir string) (KeptWork, error) {
	todos, notes, err := lists.ReadTodos(dir)
	if err != nil {
		return KeptWork{}, err
	}
	tasks, err := lists.Read(storage.WorkIn(dir))
	return KeptWork{Todos: todos, Tasks: tasks.Tasks, Notes: append(notes, tasks.Notes...)}, err
}

// WorkChanged is when the lists of work in such a directory last changed; zero is never.
func WorkChanged(dir string) time.Time {
	var last time.Time
	for _, path := range []string{storage.WorkIn(dir), filepath.Join(dir, lists.TodosDir)} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// TeamDir is the directory of what the agents of a team share, see [StorageOptions].Teams. The
// error is [fs.ErrNotExist] where there is none.
func TeamDir(teams, team string) (string, error) {
	if teams == "" || team == "" {
		return "", fs.ErrNotExist
	}
	dir := lists.Locate(teams, team)
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a directory")
	}
	return dir, err
}
