package host

import (
	"context"
	"fmt"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/permissions"
)

// ErrStaged means that a session with staged files was started without
// [SessionOptions.Stage]: its tools would see files as they were before.
var ErrStaged = storage.ErrStaged

// DefaultKeepSessions is how long the directory of an unused session is kept.
const DefaultKeepSessions = storage.DefaultKeep

// openStorage opens what is kept of the session, and makes its directories readable to
// tools.
func (s *Session) openStorage(setup *permissions.Setup) error {
	o := &s.host.options
	options := storage.Options{
		ID: s.id, Results: o.Results, History: o.Storage.History, NoHistory: o.Storage.NoHistory,
		Stage: s.options.Stage, Logger: o.Observe.Logger,
	}
	if !s.options.Ephemeral {
		options.Parent = o.Storage.Sessions
	}
	if o.Shell != nil {
		options.Tasks = &storage.TaskOptions{Begin: s.tools.backgrounds(), MaxRunning: o.Shell.MaxBackground, Notify: s.news.task}
	}
	var err error
	if s.storage, err = storage.Open(options); err != nil {
		return fmt.Errorf("starting the session: %w", err)
	}
	s.tools.storage = s.storage
	setup.SessionFolder = rules.Dir(s.storage.Dir())
	if o.Shell != nil {
		// Where it cannot be made, the first command reports that.
		if dir, err := s.storage.Temp(); err == nil {
			setup.TempFolder = rules.Dir(dir)
		}
	}
	if s.options.Stage {
		s.files.Place = s.storage.Place
	}
	return nil
}

// Dir is the session's own directory, which tools may read unasked; empty where it has
// none. It is made when the first thing is kept in it.
func (s *Session) Dir() string { return s.storage.Dir() }

// History holds what files were before the tools of this session, and of earlier ones under
// the same id, wrote them: to list, to show as a patch, and to restore. It is nil where
// nothing is kept: the session has no directory, or [StorageOptions.NoHistory] is set. It is closed
// with the session.
func (s *Session) History() *History { return s.storage.History() }

// Stage holds what the session's tools wrote, where its writes are staged: to list, to show
// as a patch, to apply to the disk and to discard. It is nil in other sessions. The
// session's next call sees what was applied or discarded.
func (s *Session) Stage() *Stage { return s.storage.Stage() }

// saveReadState writes the read state of files to the journal, for the next process that
// resumes the session. A session whose id was made up has none.
func (s *Session) saveReadState() {
	if s.options.ID == "" || s.storage.Dir() == "" {
		return
	}
	files := s.files.Save()
	if files == nil {
		return
	}
	if err := s.storage.Remember(filestate.RecordKind, files); err != nil {
		s.host.options.Observe.Logger.Warn("the read state of files could not be saved: files must be read again before they are written", "session", s.id, "error", err)
	}
}

// loadReadState restores the read state that the last process saved. After a record that
// cannot be read, files must be read again.
func (s *Session) loadReadState() {
	records := s.storage.Recall(filestate.RecordKind)
	if len(records) == 0 {
		return
	}
	if err := s.files.Load(records[len(records)-1]); err != nil {
		s.host.options.Observe.Logger.Warn("the read state of files could not be restored: its record is invalid", "session", s.id, "error", err)
	}
}

// Tasks lists the session's background tasks, ended ones included, in the order in which
// they began.
func (s *Session) Tasks() []capability.TaskInfo {
	if t := s.storage.Tasks(); t != nil {
		return t.List()
	}
	return nil
}

// StopTask ends a background task and waits, for a few seconds at most, until nothing of
// it runs.
func (s *Session) StopTask(ctx context.Context, id string) (capability.TaskInfo, error) {
	if t := s.storage.Tasks(); t != nil {
		return t.Stop(ctx, id)
	}
	return capability.TaskInfo{}, abi.Errorf(abi.CodeNotFound, "there is no task %q", id)
}

// MoveToBackground moves the command that a running call waits for to the background, as a
// person wishes: the call then has its result, which names the task. It reports false where
// there is no such command, or there are no background tasks. Where the session may have no
// more of them the call waits on.
func (s *Session) MoveToBackground(callID string) bool {
	t := s.storage.Tasks()
	return t != nil && s.tools.backgrounds() && s.host.engines.commands.MoveToBackground(t, callID)
}
