package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// module is one plugin, whether or not its worker runs. It implements
// [plugins.Instance].
type module struct {
	runner *Runner
	source plugins.Module
	name   string
	slots  chan struct{} // one token for each call that runs

	life context.Context // over once the module is closed
	die  context.CancelCauseFunc

	mu       sync.Mutex
	process  *process  // nil while none runs
	starting *starting // nil while none is started
	ended    sync.WaitGroup
	sessions uint64
	restarts restarts
}

// starting is a worker's way from nothing to ready. Calls wait for it; none of
// them owns it.
type starting struct {
	done    chan struct{}
	process *process // these are set when done is closed
	err     error
}

var _ plugins.Instance = (*module)(nil)

func newModule(r *Runner, m plugins.Module) *module {
	mod := &module{
		runner: r,
		source: m,
		name:   m.Manifest.Name,
		slots:  make(chan struct{}, r.opts.Parallel),
	}
	mod.life, mod.die = context.WithCancelCause(context.Background())
	return mod
}

// Close ends the worker, and with it the calls under way.
func (m *module) Close(context.Context) error {
	m.die(m.unloaded())
	m.mu.Lock()
	p, s := m.process, m.starting
	m.mu.Unlock()
	if s != nil {
		<-s.done
		p = s.process
	}
	if p != nil {
		p.child.kill(m.unloaded())
	}
	m.ended.Wait()
	return nil
}

func (m *module) unloaded() *abi.Error {
	return abi.Errorf(abi.CodeCancelled, "plugin %s is being unloaded", m.name)
}

// running returns the worker, started where there is none, unless the module is
// closed.
func (m *module) running(ctx context.Context) (*process, error) {
	m.mu.Lock()
	if m.life.Err() != nil {
		defer m.mu.Unlock()
		return nil, m.unloaded()
	}
	if m.process != nil {
		defer m.mu.Unlock()
		return m.process, nil
	}
	s := m.starting
	if s == nil {
		if wait := time.Until(m.restarts.rest); wait > 0 {
			defer m.mu.Unlock()
			return nil, abi.Errorf(abi.CodeTrap, "the worker process of plugin %s ended %d times without having answered a call; it is started again in %s at the earliest",
				m.name, m.restarts.deaths, max(wait, time.Millisecond).Round(time.Millisecond))
		}
		s = &starting{done: make(chan struct{})}
		m.starting = s
		go m.start(s)
	}
	m.mu.Unlock()
	select {
	case <-s.done:
		return s.process, s.err
	case <-ctx.Done():
		return nil, m.explain(ctx)
	}
}

// start starts a worker.
func (m *module) start(s *starting) {
	p, err := m.launch(m.life)
	m.mu.Lock()
	m.starting = nil
	if err == nil {
		m.process = p
		m.ended.Add(1)
		p.serve()
	} else {
		m.restarts.died()
	}
	m.mu.Unlock()
	s.process, s.err = p, err
	close(s.done)
}

// launch starts a process and has it load the module.
func (m *module) launch(ctx context.Context) (*process, error) {
	o := &m.runner.opts
	c, err := spawn(o.Command)
	if err != nil {
		return nil, err
	}
	s := m.runner.setup(&m.source)
	p := &process{
		module:   m,
		child:    c,
		out:      writer{file: c.in},
		feed:     feed{in: newReader(c.out, handshakeLimit), turn: make(chan struct{}, 1)},
		underway: underway{calls: make(map[uint32]*call), endings: make(map[uint32]chan struct{}), used: time.Now()},
		memory:   s.Limits.Memory,
		dead:     make(chan struct{}),
	}
	p.feed.take, p.feed.end = p.take, p.end
	what := fmt.Sprintf("loading plugin %s in a worker process", m.name)
	unconfined, err := o.handshake(ctx, c, p.feed.in, what, s, m.source.Wasm)
	if err != nil {
		c.end()
		return nil, err
	}
	p.feed.in.limit = p.limit
	if len(unconfined) > 0 {
		o.Logger.Warn("a worker process runs without a system call filter", "plugin", m.name, "reason", engine.Told(string(unconfined)))
	}
	return p, nil
}

// exchange has a worker serve a call, once there is a slot for it. A call made
// under one that holds a slot needs none of its own.
func (m *module) exchange(ctx context.Context, c *call) reply {
	if !c.parent.has(m) {
		select {
		case m.slots <- struct{}{}:
			defer func() { <-m.slots }()
		case <-ctx.Done():
			return reply{err: m.explain(ctx)}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.enter(ctx)
	for {
		p, err := m.running(ctx)
		if err != nil {
			return reply{err: err}
		}
		if p.begin(c) {
			c.process = p
			if c.keeper != nil {
				c.keeper.moved(p) // before the worker can be idle again
			}
			return p.exchange(c)
		}
		// It is about to end, and has not seen the call.
		select {
		case <-p.dead:
		case <-ctx.Done():
			return reply{err: m.explain(ctx)}
		}
	}
}
