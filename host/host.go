package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/pluginset"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/session"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/worktree"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// Host holds what sessions share. It is safe for concurrent use.
type Host struct {
	options Options
	tools   offers
	// provision is the skills of providers.
	provision provision
	engines   engines
	plugins   *pluginset.Current

	sessions   *session.Host // what all sessions share
	own        ownRules
	background *background
	forgetting forgetting

	mu       sync.Mutex
	closed   bool
	settings *rules.Settings
	tuning   *Tuning
	pool     *scheduler.Pool             // of the calls of all sessions, by tuning; nil is no bound
	open     map[*Session]struct{}       // the sessions that are not closed
	programs map[*programPolicy]struct{} // of the programs that run
}

// background is what goes on in the background of a host.
type background struct {
	ctx     context.Context //nolint:containedctx // ends with the host, which outlives the one it is opened under
	end     context.CancelFunc
	running sync.WaitGroup
}

func newBackground() *background {
	b := &background{}
	b.ctx, b.end = context.WithCancel(context.Background())
	return b
}

// ErrClosed is returned by calls to a host or session that was closed.
var ErrClosed = storage.ErrClosed

// Open makes a host, which then owns the runners of its options. It reads manifests, and
// neither compiles nor runs any plugin or command. What is wrong with one plugin is that
// plugin's problem (see [Host.Plugins]); an error means that the options cannot be met. It
// lists all their faults, including those that would only show at the first command or
// plugin. Whether an installed sandbox works, only the first command finds out.
func Open(ctx context.Context, o Options) (*Host, error) {
	if err := o.check(&thisMachine); err != nil {
		return nil, err
	}
	if o.Observe.Logger == nil {
		o.Observe.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Plugins.Workers {
		o.addWorkers()
	}
	h := &Host{
		options:    o,
		engines:    newEngines(&o),
		background: newBackground(),
		open:       make(map[*Session]struct{}),
		programs:   make(map[*programPolicy]struct{}),
		settings:   o.settings(),
	}
	for i := range o.Skills.Own {
		if err := o.Skills.Own[i].Check(); err != nil {
			return nil, fmt.Errorf("Skills.Own: %w", err)
		}
	}
	capabilities, err := h.engines.capabilities(&o)
	if err != nil {
		return nil, err
	}
	if h.tools.own, err = compileAll(o.Tools); err != nil {
		return nil, err
	}
	natives, err := h.tools.join()
	if err != nil {
		return nil, err
	}
	set, err := openPlugins(ctx, &o, capabilities, natives)
	if err != nil {
		return nil, err
	}
	h.plugins = pluginset.New(h.withSkills(tool.Set{Set: set, Natives: natives}), h.reloaded)
	h.sessions = h.sharedBySessions(sharedByCalls(&o, &h.engines, capabilities))
	h.forget()
	return h, nil
}

// sharedBySessions is what the sessions share, whose calls share calls.
func (h *Host) sharedBySessions(calls *pipeline.Host) *session.Host {
	o := &h.options
	shared := &session.Host{
		Calls: calls, Plugins: h.plugins, Testing: o.Model.Testing, Todos: o.Model.Todos, Settings: o.Settings, OnceOnly: o.Permissions.OnceOnly,
		Cron:  o.cron(),
		Tasks: o.Shell != nil && o.Shell.MaxBackground >= 0, Logger: o.Observe.Logger,
	}
	if o.Storage.Worktrees != "" {
		shared.Worktrees = &worktree.Store{Dir: o.Storage.Worktrees, Git: git}
	}
	tuning := o.Tuning()
	h.tune(shared, &tuning)
	return shared
}

// Abandoned is how many calls, since the host was opened, left something behind
// that did not end within five seconds, such as a system call that hangs. Each was
// told with [EventAbandoned].
func (h *Host) Abandoned() int64 { return h.sessions.Abandoned.Load() }

// Plugins is what was found, with what is wrong with it. After a [Host.Reload]
// that found changes it is another set, and the older one's plugins are freed.
func (h *Host) Plugins() *plugins.Set { return h.plugins.Newest().Set }

// Close ends every session and waits for calls under way, or for ctx. Then it
// frees the plugins. The host cannot be used after it.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	sessions, set := h.open, h.plugins.Close(ErrClosed)
	h.open = nil
	h.mu.Unlock()
	h.background.end()
	h.background.running.Wait()
	err := closeAll(ctx, sessions)
	h.forgetting.close(ctx)
	return errors.Join(err, set.Close(ctx), h.engines.close(ctx))
}

// closeAll closes sessions side by side: each may have calls that take their time to
// end.
func closeAll(ctx context.Context, sessions map[*Session]struct{}) error {
	errs := make(chan error, len(sessions))
	for s := range sessions {
		go func() { errs <- s.Close(ctx) }()
	}
	var all error
	for range sessions {
		all = errors.Join(all, <-errs)
	}
	return all
}
