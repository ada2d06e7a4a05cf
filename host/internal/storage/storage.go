package storage

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/lists"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// Session is what is kept of one session. It is safe for concurrent use.
type Session struct {
	dir     *sessiondir.Dir // nil where the session has none
	results *results.Store
	history *history.Store  // nil where none is kept
	stage   *stage.Store    // nil where writes are not staged
	staging *Staging        // nil if stage is nil
	tasks   *tasks.Registry // nil where there are none
	lists   *lists.Lists
	scratch scratch
}

// Open opens what is kept of a session and reads what an earlier process left of it. It
// fails with [sessiondir.ErrInUse] while another session uses the directory, and with
// [ErrStaged] where files are staged and Options.Stage is not set.
func Open(o Options) (*Session, error) {
	s := &Session{}
	if o.Parent != "" {
		var err error
		if s.dir, err = sessiondir.Open(o.Parent, o.ID, o.Logger); err != nil {
			return nil, err
		}
	}
	s.history = openHistory(s.dir, &o)
	s.lists = s.openLists(&o)
	s.results = results.New(o.Results, s.dir, o.Logger)
	var err error
	if s.stage, err = openStage(s.dir, s.history, &o); err == nil {
		if s.stage != nil {
			s.staging = &Staging{stage: s.stage}
		}
		s.tasks, err = openTasks(s.dir, &o)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openHistory returns the history in a session's directory, which is made when the first
// file is written; nil where none is kept.
func openHistory(dir *sessiondir.Dir, o *Options) *history.Store {
	if dir == nil || o.NoHistory {
		return nil
	}
	options := o.History
	options.Logger, options.Make = o.Logger, func() error { return makeIn(dir, history.Dir) }
	return history.Open(filepath.Join(dir.Path(), history.Dir), options)
}

// Close closes the history, releases the session's directory and removes its scratch
// directory. [Session.EndTasks] comes before it.
func (s *Session) Close() error {
	faults := []error{s.staging.close()}
	if s.history != nil {
		faults = append(faults, s.history.Close())
	}
	if s.dir != nil {
		faults = append(faults, s.dir.Close())
	}
	return errors.Join(append(faults, s.scratch.close())...)
}

// Dir is the session's directory, which is made when the first thing is kept in it. It is
// empty where the session has none.
func (s *Session) Dir() string {
	if s.dir == nil {
		return ""
	}
	return s.dir.Path()
}

// Remember writes a record to the session's journal, for [Session.Recall] in the next
// process. Without a directory, and after Close, it does nothing.
func (s *Session) Remember(kind string, data any) error {
	if s.dir == nil {
		return nil
	}
	err := s.dir.Append(sessiondir.Record{Kind: kind, Data: data})
	if errors.Is(err, sessiondir.ErrClosed) {
		return nil
	}
	return err
}

// Recall returns the records of a kind that earlier processes wrote, in order. A second
// call returns nothing.
func (s *Session) Recall(kind string) []json.RawMessage {
	if s.dir == nil {
		return nil
	}
	return s.dir.Recall(kind)
}

// Results is the store of the session's results.
func (s *Session) Results() *results.Store { return s.results }

// History holds the former contents of files that the session's tools wrote; nil where
// none are kept.
func (s *Session) History() *history.Store { return s.history }

// Stage holds what the session's tools wrote; nil where writes are not staged.
func (s *Session) Stage() *stage.Store { return s.stage }

// Tasks are the session's background tasks; nil where there can be none.
func (s *Session) Tasks() *tasks.Registry { return s.tasks }

// Provide sets the history, the stage and the tasks that a capability sees. With a stage
// there is no history: nothing is written before it is applied.
func (s *Session) Provide(scope *capability.Scope) {
	switch { // a nil pointer in an interface is not nil
	case s.stage != nil:
		scope.Stage = s.stage
	case s.history != nil:
		scope.History = s.history
	}
	if s.tasks != nil {
		scope.Tasks = s.tasks
	}
}

// EndTasks ends all background tasks. It fails where some have not ended in time.
func (s *Session) EndTasks(ctx context.Context) error {
	if s.tasks == nil {
		return nil
	}
	return s.tasks.Close(ctx)
}

// Notice tells a model, once, which background tasks have ended; empty where none has.
func (s *Session) Notice() string {
	if s.tasks == nil {
		return ""
	}
	return noticeOf(s.tasks.Notices())
}

// Overlay resolves a path as the session's tools see it, staged files included.
func (s *Session) Overlay(cwd, path string) (*workspace.Overlaid, error) {
	if s.stage == nil {
		return workspace.Overlay(cwd, path, nil)
	}
	return workspace.Overlay(cwd, path, s.stage)
}

// Place is where the content of a file lies: in the stage, or at its path.
func (s *Session) Place(path string) string {
	if s.stage == nil {
		return path
	}
	staged, ok, err := s.stage.Lookup(path)
	if err != nil || !ok || staged.Kind != abi.KindFile {
		return path
	}
	return staged.Place
}

// Temp is the directory that commands have as /tmp. It does not outlive the session.
func (s *Session) Temp() (string, error) { return s.scratch.dir(tempDir) }

// Outputs is the directory for the output of commands: in the session's directory, or
// where it has none, in the scratch directory.
func (s *Session) Outputs() (string, error) {
	if s.dir == nil {
		return s.scratch.dir(outputsDir)
	}
	dir := outputsIn(s.dir)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	return dir, makeIn(s.dir, outputsDir)
}

// Reach is the directory, see [ReachIn]. It is empty where the session has none.
func (s *Session) Reach() (string, error) {
	if s.dir == nil {
		return "", nil
	}
	return ReachIn(s.dir.Path()), makeIn(s.dir, reachDir)
}
