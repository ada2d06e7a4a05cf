package storage

import (
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/internal/lists"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// workDir is the directory of tasks: in a session's directory, in its scratch directory, or
// in that of a team.
const workDir = "work"

// openLists returns the lists of work.
func (s *Session) openLists(o *Options) *lists.Lists {
	return &lists.Lists{Todos: lists.NewTodos(s.dir, o.Logger), Tasks: lists.NewTasks(s.workPlace(o), o.Logger)}
}

// workPlace is where the tasks of a session lie.
func (s *Session) workPlace(o *Options) lists.Place {
	switch {
	case o.Team != "" && o.Teams != "":
		return TeamWork(o.Teams, o.Team)
	case s.dir != nil:
		return lists.Place{Path: func() string { return WorkIn(s.dir.Path()) }, Make: func() error { return makeWork(s.dir) }}
	}
	return lists.Place{Path: func() string { return s.scratch.path(workDir) }, Make: func() error {
		_, err := s.scratch.dir(workDir)
		return err
	}}
}

// WorkIn is the directory of tasks in a session's directory.
func WorkIn(dir string) string { return filepath.Join(dir, workDir) }

// makeWork takes the session's directory even where another session has made the directory in
// it meanwhile: it then fails, as the session is in use.
func makeWork(dir *sessiondir.Dir) error {
	if err := dir.Make(); err != nil {
		return err
	}
	if _, err := os.Lstat(WorkIn(dir.Path())); err == nil {
		return nil
	}
	return makeIn(dir, workDir)
}

// TeamWork is where the tasks of a team lie, below the directory of all teams.
func TeamWork(teams, team string) lists.Place {
	dir := lists.Locate(teams, team)
	return lists.Place{Path: func() string { return WorkIn(dir) }, Make: func() error {
		for _, path := range []string{teams, dir, WorkIn(dir)} {
			if err := privatedir.Make(path); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Lists are the session's lists of work.
func (s *Session) Lists() *lists.Lists { return s.lists }
