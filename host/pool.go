package host

import (
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/scheduler"
)

// shared is what the turns of all sessions have in common.
type shared struct {
	once sync.Once
	pool *scheduler.Pool
	// abandoned counts the calls that left something behind which did not end.
	abandoned atomic.Int64
}

// Abandoned is how many calls, since the host was opened, left something behind
// that did not end within five seconds, such as a system call that hangs. Each was
// told with [EventAbandoned].
func (h *Host) Abandoned() int64 { return h.shared.abandoned.Load() }

// slots is the pool that all turns of the host share, nil where nothing bounds
// them together.
func (h *Host) slots() *scheduler.Pool {
	h.shared.once.Do(func() {
		if o := &h.options; o.Limits.MaxCalls > 0 || o.Limits.MaxPerPlugin > 0 {
			h.shared.pool = scheduler.NewPool(scheduler.PoolOptions{Max: o.Limits.MaxCalls, MaxPerGroup: o.Limits.MaxPerPlugin})
		}
	})
	return h.shared.pool
}

// slotsOf is the pool of a turn's calls: the pool of the turn that it is part of, else one
// of its own.
func slotsOf(t *openTurn) *scheduler.Pool {
	if t.within != nil {
		return turnOf(t.within).pool
	}
	return scheduler.NewPool(scheduler.PoolOptions{
		Max:   t.session.host.options.maxConcurrent(),
		Above: t.session.host.slots(),
	})
}

// schedulingOf is how the scheduler orders a turn's calls.
func schedulingOf(t *openTurn) scheduler.Options {
	options := &t.session.host.options
	o := scheduler.Options{
		Pool:      t.pool,
		Cascade:   options.Limits.Cascade,
		Plain:     options.Limits.PlainBatches,
		Abandoned: abandoned,
		Panicked:  panicked,
	}
	if t.listeners.feed != nil {
		o.MaxHeld = options.maxHeld()
	} else {
		o.Lend, o.NoInterrupt = lends, true
	}
	if t.listeners.any() {
		o.Interruptible = t.listeners.interruptible
	}
	return o
}

// lends reports whether a call may run on a goroutine that is not its own. An
// embedder's tool may end the one it is on.
func lends(j scheduler.Job) bool {
	c, ok := j.(*pipeline.Call)
	if !ok {
		return false
	}
	return c.IsPlugins()
}

// abandoned is told of a call that left something behind which did not end.
func abandoned(j scheduler.Job) {
	c, ok := j.(*pipeline.Call)
	if !ok {
		return
	}
	s := turnOf(c).session
	h := s.host
	h.shared.abandoned.Add(1)
	h.options.Observe.Logger.Warn("something a tool call left behind does not end", "tool", c.Name(), "call", c.ID(), "session", s.id)
	l := tellingOf(c.Teller())
	l.event(Event{Kind: EventAbandoned, Elapsed: l.elapsed()})
}

// panicked is told of a panic that is not the failure of its call.
func panicked(j scheduler.Job, p *scheduler.PanicError) {
	if c, ok := j.(*pipeline.Call); ok {
		turnOf(c).session.host.options.Observe.Logger.Error("a tool call panicked while it ended", "tool", c.Name(), "panic", p.Value, "stack", string(p.Stack))
	}
}

func (o *Options) maxConcurrent() int {
	if o.Limits.MaxConcurrent < 1 {
		return scheduler.DefaultMaxConcurrent
	}
	return o.Limits.MaxConcurrent
}

// defaultMaxHeld is that of [Options].Limits.MaxHeldResults.
const defaultMaxHeld = 64 << 20

func (o *Options) maxHeld() int64 {
	if o.Limits.MaxHeldResults < 1 {
		return defaultMaxHeld
	}
	return o.Limits.MaxHeldResults
}
