package session

import (
	"time"

	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/worktree"
)

// moving are the rules of a session, which moves between worktrees.
type moving struct{ *rules.State }

// Cwd is where the session is.
func (m moving) Cwd() string { return m.View().Cwd }

// Inside reports whether a path is in the session's directories.
func (m moving) Inside(path string) bool { return m.View().Policy.Inside(path) }

// beginWorktree takes the session back into the worktree that it was in when its last process
// ended. Where that is gone, its model and the operator are told.
func (s *Session) beginWorktree() {
	w := &s.Calls.Worktree
	w.Store, w.ID, w.Rules, w.Remember, w.Running = s.Host.Worktrees, s.Calls.ID, moving{s.Rules}, s.Storage.Remember, s.runningSince
	gone := w.Resume(s.Storage.Recall(worktree.RecordKind))
	if gone == "" {
		return
	}
	s.Calls.Notice.Store(&gone)
	s.Host.Logger.Warn("a session does not go on in its worktree", "session", s.Calls.ID, "why", gone)
}

// runningSince names the background tasks that began after a time and still run.
func (s *Session) runningSince(since time.Time) (names []string) {
	all := s.Storage.Tasks()
	if all == nil {
		return nil
	}
	for _, task := range all.List() {
		if !task.Over() && !task.Began.Before(since) {
			names = append(names, task.ID)
		}
	}
	return names
}
