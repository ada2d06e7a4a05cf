package worker

import (
	"context"
	"errors"
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

	// deaths counts the workers that died since one of them answered a call, and
	// rest is when the next may be started.
	deaths int
	rest   time.Time
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

// link is what a call leaves in the context of its capability calls: the chain
// of isolated plugins that it was made through.
type link struct {
	module *module
	parent *link
}

type linkKey struct{}

func linkOf(ctx context.Context) *link {
	l, _ := ctx.Value(linkKey{}).(*link)
	return l
}

func (l *link) has(m *module) bool {
	for ; l != nil; l = l.parent {
		if l.module == m {
			return true
		}
	}
	return false
}

// Call runs a tool. See [plugins.Instance].
func (m *module) Call(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	message, err := callMessage(inv)
	if err != nil {
		return abi.ToolResult{}, err
	}
	c := &call{
		module:    m,
		chain:     &link{m, linkOf(ctx)},
		do:        inv.Capability,
		report:    inv.Report,
		makeSpill: inv.Spill,
		most:      2*m.source.Limits.Time + grace,
		message:   message,
	}
	var r reply
	if m.source.Manifest.Instance == abi.InstanceKept && inv.Session != nil {
		r = m.exchangeKept(ctx, c, inv.Session)
	} else {
		r = m.exchange(ctx, c)
	}
	defer c.discardSpills()
	if r.err != nil {
		return abi.ToolResult{}, r.err
	}
	result, err := c.result(r.payload, m.source.Limits.Output)
	if err != nil {
		return abi.ToolResult{}, &abi.Error{Code: abi.CodeOf(err), Message: "plugin " + m.name + ": " + engine.Told(err.Error()), Err: err}
	}
	result.ToolUseID = inv.ID
	return result, nil
}

// sessionSize is the length of the session's number before a call's message.
const sessionSize = 8

func callMessage(inv plugins.Invocation) ([]byte, error) {
	head := abi.CallHead{Tool: inv.Tool.Name, ID: inv.ID, Cwd: inv.Cwd, Config: inv.Config}
	b := newMessage(kindCall, 0, 0, len(inv.Input)+256)
	if inv.Spill != nil {
		b[5] = flagSpill
	}
	return abi.EncodeCall(append(b, make([]byte, sessionSize)...), head, inv.Input)
}

// assessTime bounds the guest's running time in one assess, as far as the host
// looks: the worker's own runner holds it to less.
const assessTime = time.Second

// Assess asks the guest's assess. See [plugins.Instance].
func (m *module) Assess(ctx context.Context, q plugins.Question) (abi.Assessment, error) {
	head := abi.AssessHead{Tool: q.Tool.Name, Cwd: q.Cwd, Facts: q.Facts, Config: q.Config}
	message, err := abi.EncodeAssess(newMessage(kindAssess, 0, 0, len(q.Input)+256), head, q.Input)
	if err != nil {
		return abi.Assessment{}, err
	}
	c := &call{module: m, chain: &link{m, linkOf(ctx)}, most: m.source.Limits.Time + assessTime + grace, message: message}
	r := m.exchange(ctx, c)
	if r.err != nil {
		return abi.Assessment{}, r.err
	}
	return abi.DecodeAssessment(r.payload)
}

// exchange has a worker serve a call, once there is a slot for it. A call made
// under one that holds a slot needs none of its own.
func (m *module) exchange(ctx context.Context, c *call) reply {
	if !c.chain.parent.has(m) {
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

// explain says why a call ended whose context is over.
func (m *module) explain(ctx context.Context) error {
	cause := context.Cause(ctx)
	if known, ok := errors.AsType[*abi.Error](cause); ok {
		return known
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return abi.Errorf(abi.CodeTimeout, "the call ran into its time limit in plugin %s: %w", m.name, cause)
	}
	return abi.Errorf(abi.CodeCancelled, "the call was cancelled in plugin %s: %w", m.name, cause)
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
		if wait := time.Until(m.rest); wait > 0 {
			defer m.mu.Unlock()
			return nil, abi.Errorf(abi.CodeTrap, "the worker process of plugin %s ended %d times without having answered a call; it is started again in %s at the earliest",
				m.name, m.deaths, max(wait, time.Millisecond).Round(time.Millisecond))
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
		m.died()
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
	p := &process{
		module:  m,
		child:   c,
		out:     writer{file: c.in},
		calls:   make(map[uint32]*call),
		endings: make(map[uint32]chan struct{}),
		used:    time.Now(),
		dead:    make(chan struct{}),
	}
	s := m.runner.setup(&m.source)
	p.memory = s.Limits.Memory
	p.in = newReader(c.out, p.limit)
	what := fmt.Sprintf("loading plugin %s in a worker process", m.name)
	unconfined, err := o.handshake(ctx, c, p.in, what, s, m.source.Wasm)
	if err != nil {
		c.end()
		return nil, err
	}
	p.ready = true
	if len(unconfined) > 0 {
		o.Logger.Warn("a worker process runs without a system call filter", "plugin", m.name, "reason", engine.Told(string(unconfined)))
	}
	return p, nil
}

// patience is how many workers may die in a row before the next one has to wait,
// and maxRest the longest it does.
const (
	patience = 3
	maxRest  = 30 * time.Second
)

// died notes that a worker died before it had answered a call. m.mu is held.
func (m *module) died() {
	m.deaths++
	if over := m.deaths - patience; over >= 0 {
		m.rest = time.Now().Add(min(100*time.Millisecond<<min(over, 10), maxRest))
	}
}

// gone notes that a worker has ended.
func (m *module) gone(p *process, answered, wanted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process == p {
		m.process = nil
	}
	if answered {
		m.deaths = 0
	}
	if !wanted && !answered {
		m.died()
	}
}
