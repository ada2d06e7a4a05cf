package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/cron"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/pluginset"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/toolset"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/host/internal/worktree"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// Host is what the sessions of a host share.
type Host struct {
	Calls   *pipeline.Host
	Plugins *pluginset.Current
	// Testing offers the tools that are for tests.
	Testing bool
	// Settings are those that calls may read and set; nil is none.
	Settings capability.Settings
	// Worktrees are where sessions' worktrees lie; nil is nowhere.
	Worktrees *worktree.Store
	// Todos has models keep todos of their own, and no tasks that agents share.
	Todos bool
	// OnceOnly says that no answer of a person is remembered.
	OnceOnly bool
	// Cron has the prompts that come by the clock.
	Cron *cron.Cron
	// Tasks says that commands may go on in the background.
	Tasks bool
	// tuning is what counts now; see [Host.Tune].
	tuning atomic.Pointer[Tuning]
	// Locks keep the calls of different sessions apart that lock the same.
	Locks  scheduler.Table
	Logger *slog.Logger
	// Abandoned counts the calls that left something behind which did not end.
	Abandoned atomic.Int64
}

// Session is one conversation's state. It is safe for concurrent use; turns run one after
// the other.
type Session struct {
	Host *Host
	// Rules are what its calls are judged by.
	Rules *rules.State
	// Storage is what is kept beyond a turn, and Files the read state of files.
	Storage *storage.Session
	Files   filestate.Files
	// Calls is what its calls see of it.
	Calls pipeline.Session
	Tools Tools
	// resumes and caller are as in [Options].
	resumes bool
	caller  permissions.Caller

	Life    *turn.Life
	reach   reach
	running turn.Token // of the turn that runs
	queue   turn.Queue // of the streams that wait for it
	singles singles
}

// Options configure a [Session].
type Options struct {
	// Caller says who makes the session's calls that no running call makes. Without a Chain,
	// it is the session, or the chain of the running call.
	Caller   permissions.Caller
	Audience toolset.Audience
	Storage  storage.Options
	// Resumes says that another process may go on with the session: its ID was not made up.
	Resumes bool
	// Output is the structured output that the session is begun for; nil is none.
	Output *Output
	// Unheard is as in [capability.Scope].
	Unheard bool
	// Prompts says that prompts which come due are taken, by [Session.Prompts].
	Prompts bool
	// Judge is asked what rules leave open; nil is none.
	Judge gate.Judge
	// Headless reports whether there is nobody to ask for an approval now, and Carries whether
	// questions of one of some kinds can be asked, or with none named, of any kind.
	Headless func() bool
	Carries  func(kinds ...capability.QuestionKind) bool
}

// Open opens a session, whose directories are added to the setup of its rules. It has no
// rules yet, see [Session.Begin].
func (h *Host) Open(o Options, setup *permissions.Setup) (*Session, error) {
	s := &Session{Host: h, resumes: o.Resumes, caller: o.Caller, running: turn.NewToken(), singles: singles{entering: turn.NewToken()}}
	s.Life = turn.NewLife()
	t := &s.Tools
	t.host, t.audience, t.stage, t.carries, t.unheard, t.Output = h, o.Audience, o.Storage.Stage, o.Carries, o.Unheard, o.Output
	t.unstaged = sync.OnceValue(unstaging{h, s.Life, o.Storage.Parent, append([]permissions.Dir{setup.Cwd}, setup.Additional...)}.why)
	s.Calls.Unheard = o.Unheard
	o.Storage.Results = h.tuned().Results
	s.Calls.ID, s.Calls.Judge, s.Calls.Headless = o.Storage.ID, o.Judge, o.Headless
	if err := s.openStorage(o.Storage, setup); err != nil {
		return nil, err
	}
	if o.Prompts {
		s.Calls.Cron = h.Cron.Open(s.caller)
	}
	s.Tools.cron = o.Prompts
	s.Tools.restore()
	return s, nil
}

// unstaging finds out why the changes of commands cannot be staged. sessions is the directory that holds
// those of the sessions, and working are the session's working directories.
type unstaging struct {
	host     *Host
	life     *turn.Life
	sessions string
	working  []permissions.Dir
}

func (u unstaging) why() error {
	if !u.host.Calls.Shell {
		return abi.Errorf(abi.CodeUnsupported, "there are no commands here")
	}
	return u.host.Calls.Commands.Stages(u.life.Context(), u.sessions, u.working)
}

// Begin sets the rules by which calls are judged. It is called once, before any turn.
func (s *Session) Begin(by *rules.State) {
	s.Rules = by
	c := &s.Calls
	c.Host, c.Rules, c.Storage, c.Files = s.Host.Calls, by, s.Storage, &s.Files
	c.Kept, c.Stage, c.Unstaged, c.Settings = new(plugins.Session), s.Tools.stage, s.Tools.unstaged, s.Host.Settings
	if s.Tools.Output != nil {
		c.Output = s.Tools.Output
	}
	c.Life = pipeline.Life{Context: s.Life.Context(), After: s.Life.After, Backgrounds: s.Tools.Backgrounds, Reachable: s.reachable}
	s.beginWorktree()
}

// End waits until the running turn, which was cancelled, has ended, or until ctx is done. Then
// it ends background work.
func (s *Session) End(ctx context.Context) error {
	var err error
	if s.running.Take(ctx) {
		s.running.Give()
	} else {
		err = fmt.Errorf("closing a session whose turn goes on: %w", context.Cause(ctx))
	}
	s.Life.EndRest(ctx)
	s.saveReadState()
	return errors.Join(err, s.Storage.EndTasks(ctx), s.Calls.Kept.Close(ctx)) // what runs goes before what it writes in
}

// Close ends who reaches the session, and closes what is kept of it. [Session.End] comes before
// it.
func (s *Session) Close() error {
	if s.Calls.Cron != nil {
		s.Calls.Cron.Close()
	}
	return errors.Join(s.reach.close(), s.Calls.Worktree.Close(), s.Storage.Close())
}

// Prompts has the prompts taken that come due, until ctx or the session ends or take returns
// false: never while a turn runs, and one at a time.
func (s *Session) Prompts(ctx context.Context, take func(capability.DuePrompt) bool) {
	if s.Calls.Cron == nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Life.Context(), cancel)() //nolint:contextcheck // the session's end ends it, too
	s.Calls.Cron.Run(ctx, cron.Taker{Take: take, Idle: func(ctx context.Context) bool {
		if !s.running.Take(ctx) {
			return false
		}
		s.running.Give()
		return true
	}})
}

// DuePrompts has those taken that are due by now, whether or not a turn runs, unless the session has
// ended.
func (s *Session) DuePrompts(ctx context.Context, take func(capability.DuePrompt) bool) {
	if s.Calls.Cron != nil && s.Life.Context().Err() == nil {
		s.Calls.Cron.Due(ctx, take)
	}
}

// Next is the session as a turn would find it that began now. The session takes that up,
// but not while a turn runs: rules that are written with another name of a tool must go on
// binding the tools that the turn has.
func (s *Session) Next() *rules.View {
	set := s.Host.Plugins.Newest()
	if !s.running.TryTake() {
		return s.Rules.WithTools(set)
	}
	defer s.running.Give()
	return s.Rules.SetTools(set)
}

// Explain judges a call as it would be judged now, see [pipeline.Explain].
func (s *Session) Explain(ctx context.Context, l Listeners, use abi.ToolUse) (permissions.Explanation, error) {
	set := s.Host.Plugins.Hold()
	defer set.Release()
	s.Rules.Fresh()
	v := s.Rules.WithTools(set)
	t := &Turn{session: s, listeners: l, tools: catalog{s, set}, counts: new(counts)}
	t.files = &t.own
	t.own.Begin(&s.Files)
	return pipeline.Explain(ctx, t, use, v)
}
