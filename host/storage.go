package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/tasks"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
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
		ID: s.id, Results: o.Results, History: o.History, NoHistory: o.NoHistory,
		Stage: s.options.Stage, Logger: o.Logger,
	}
	if !s.options.Ephemeral {
		options.Parent = o.Sessions
	}
	if o.Shell != nil {
		options.Tasks = &storage.TaskOptions{Begin: s.backgrounds(), MaxRunning: o.Shell.MaxBackground, Notify: s.tellTask}
	}
	var err error
	if s.storage, err = storage.Open(options); err != nil {
		return fmt.Errorf("starting the session: %w", err)
	}
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
// nothing is kept: the session has no directory, or [Options.NoHistory] is set. It is closed
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
		s.host.options.Logger.Warn("the read state of files could not be saved: files must be read again before they are written", "session", s.id, "error", err)
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
		s.host.options.Logger.Warn("the read state of files could not be restored: its record is invalid", "session", s.id, "error", err)
	}
}

// backgrounds reports whether background tasks may begin in the session. None do where its
// writes are staged, since no command runs there, nor where its model has no tools to read
// and to stop them.
func (s *Session) backgrounds() bool {
	o := &s.host.options
	if o.Shell == nil || o.Shell.MaxBackground < 0 || s.options.Stage {
		return false
	}
	return len(o.Offer.Only) == 0 || s.offersTo(abi.CapTaskOutput) && s.offersTo(abi.CapTaskStop)
}

// offersTo reports whether an offered tool of a plugin may ask for a capability.
func (s *Session) offersTo(capability string) bool {
	return slices.ContainsFunc(s.host.Plugins().Tools(), func(t *plugins.Tool) bool {
		_, may := t.Plugin.Declares(t.Tool, capability)
		return may && s.host.options.Offer.Has(t.Tool)
	})
}

// tellTask tells the embedder about a background task that began or ended.
func (s *Session) tellTask(t tasks.Info) {
	s.tell(Event{Kind: EventTask, CallID: t.Call, Tool: t.Tool, Title: t.Title, Task: &t})
}

// tell tells the embedder about something outside all turns, in order. It does not wait for
// the observer: its caller may have to reap a process.
func (s *Session) tell(e Event) {
	if s.news == nil {
		return
	}
	e.Session, e.Time = s.id, time.Now()
	s.news.PutLater(e)
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
	return t != nil && s.backgrounds() && s.host.commands.MoveToBackground(t, callID)
}
