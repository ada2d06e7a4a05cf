package session

import (
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/scheduler"
)

// Limits bound what runs at once.
type Limits struct {
	// MaxConcurrent bounds the calls of one turn, those that they make in turn included; 0 is
	// [scheduler.DefaultMaxConcurrent].
	MaxConcurrent int
	// Slots bounds the calls of all sessions; nil is no bound.
	Slots *scheduler.Pool
	// MaxHeld bounds the memory, in bytes, of a turn's results that wait to be read; 0 is
	// 64 MiB.
	MaxHeld int64
	// Cascade and PlainBatches are as the scheduler has them.
	Cascade      scheduler.Cascade
	PlainBatches bool
}

// defaultMaxHeld is that of [Limits].MaxHeld.
const defaultMaxHeld = 64 << 20

func (l *Limits) maxHeld() int64 {
	if l.MaxHeld < 1 {
		return defaultMaxHeld
	}
	return l.MaxHeld
}

// slotsOf is the pool of a turn's calls: the pool of the turn that it is part of, else one
// of its own.
func slotsOf(t *Turn) *scheduler.Pool {
	if t.within != nil {
		return turnOf(t.within).pool
	}
	return newPool(&t.session.Host.tuned().Limits)
}

func newPool(limits *Limits) *scheduler.Pool {
	of := scheduler.PoolOptions{Max: limits.MaxConcurrent, Above: limits.Slots}
	if of.Max < 1 {
		of.Max = scheduler.DefaultMaxConcurrent
	}
	return scheduler.NewPool(of)
}

// schedulingOf is how the scheduler orders a turn's calls.
func schedulingOf(t *Turn) scheduler.Options {
	limits := &t.session.Host.tuned().Limits
	o := scheduler.Options{
		Pool:      t.pool,
		Cascade:   limits.Cascade,
		Plain:     limits.PlainBatches,
		Table:     tableOf(t),
		Leftovers: scheduler.LeftoverOptions{Abandoned: abandoned},
		Panicked:  panicked,
	}
	if t.feed != nil {
		o.MaxHeld = limits.maxHeld()
	} else {
		o.Lend, o.NoInterrupt = lends, true
	}
	if t.listeners.Any() {
		o.Interruptible = t.listeners.Interruptible
	}
	return o
}

// tableOf is what keeps a turn's calls apart from those of other sessions. Where a call above
// has locks it is none: the turn would wait for that call.
func tableOf(t *Turn) *scheduler.Table {
	for c := t.above; c != nil; c = turnOf(c).above {
		if c.Held().Traits.Locked {
			return nil
		}
	}
	return &t.session.Host.Locks
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

// abandoned counts and reports a call whose leftovers did not end in time.
func abandoned(j scheduler.Job) {
	c, ok := j.(*pipeline.Call)
	if !ok {
		return
	}
	s := turnOf(c).session
	s.Host.Abandoned.Add(1)
	c.Logger().Warn("something a tool call left behind does not end")
	c.Teller().Abandoned()
}

// panicked logs a panic that is not the failure of its call.
func panicked(j scheduler.Job, p *scheduler.PanicError) {
	if c, ok := j.(*pipeline.Call); ok {
		c.Logger().Error("a tool call panicked while it ended", "panic", p.Value, "stack", string(p.Stack))
	}
}
