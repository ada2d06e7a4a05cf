package host

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/retention"
)

// ErrStaged means that a session with staged files was started without
// [SessionOptions.Stage]: its tools would see files as they were before.
var ErrStaged = storage.ErrStaged

// DefaultKeepSessions is how long the directory of an unused session is kept.
const DefaultKeepSessions = retention.DefaultKeep

// Retention are the limits of what a host with these options keeps, and where it lies.
func (o *Options) Retention() retention.Options {
	out := retention.Options{
		Worktrees: o.Storage.Worktrees, Git: git,
		Sessions: o.Storage.Sessions, Compiled: o.Storage.CacheDir, Cron: o.Storage.Cron,
		Keep: o.Storage.Keep, KeepSessions: o.Storage.KeepSessions, Max: o.Storage.Max,
	}
	if o.Shell != nil {
		out.Layers = o.Shell.Sandbox.Caches
	}
	return out
}

// git finds the system's git.
func git() (string, error) { return shell.Look("git", "") }

// storageOptions are what is kept of the session.
func (s *Session) storageOptions() storage.Options {
	o := &s.host.options
	options := storage.Options{
		ID: s.id, History: o.Storage.History, NoHistory: o.Storage.NoHistory,
		Stage: s.options.Stage, Team: s.options.Caller.Team, Teams: o.Storage.Teams, Logger: o.Observe.Logger.With("session", s.id, "agent", s.options.Caller.Agent),
	}
	if !s.options.Ephemeral {
		options.Parent = o.Storage.Sessions
	}
	if o.Shell != nil {
		options.Tasks = &storage.TaskOptions{MaxRunning: o.Shell.MaxBackground, Notify: s.news.task}
	}
	return options
}

// Dir is the session's own directory, which tools may read unasked; empty where it has
// none. It is made when the first thing is kept in it.
func (s *Session) Dir() string { return s.core.Storage.Dir() }

// History holds what files were before the tools of this session, and of earlier ones under
// the same id, wrote them: to list, to show as a patch, and to restore. It is nil where
// nothing is kept: the session has no directory, or [StorageOptions.NoHistory] is set. It is closed
// with the session.
func (s *Session) History() *History { return s.core.Storage.History() }

// Stage holds what the session's tools wrote, where its writes are staged: to list, to show
// as a patch, to apply to the disk and to discard. It is nil in other sessions. The
// session's next call sees what was applied or discarded.
func (s *Session) Stage() *Stage { return s.core.Storage.Stage() }

// Tasks lists the session's background tasks, ended ones included, in the order in which
// they began.
func (s *Session) Tasks() []capability.TaskInfo {
	if t := s.core.Storage.Tasks(); t != nil {
		return t.List()
	}
	return nil
}

// StopTask ends a background task and waits, for a few seconds at most, until nothing of
// it runs.
func (s *Session) StopTask(ctx context.Context, id string) (capability.TaskInfo, error) {
	if t := s.core.Storage.Tasks(); t != nil {
		return t.Stop(ctx, id)
	}
	return capability.TaskInfo{}, abi.Errorf(abi.CodeNotFound, "there is no task %q", id)
}

// MoveToBackground moves the command that a running call waits for to the background, as a
// person wishes: the call then has its result, which names the task. It reports false where
// there is no such command, or there are no background tasks. Where the session may have no
// more of them the call waits on.
func (s *Session) MoveToBackground(callID string) bool {
	t := s.core.Storage.Tasks()
	return t != nil && s.core.Tools.Backgrounds() && s.host.engines.commands.MoveToBackground(t, callID)
}
