package host

import (
	"errors"

	"github.com/toolquay/toolquay/host/internal/session"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/scheduler"
)

// Tuning is what of how calls run, and of what models are offered, may change while a host
// runs. Its fields are as in [Options].
type Tuning struct {
	// MaxConcurrent, MaxCalls, MaxPerPlugin, Cascade and PlainBatches are as in
	// [LimitOptions].
	MaxConcurrent          int
	MaxCalls, MaxPerPlugin int
	Cascade                scheduler.Cascade
	PlainBatches           bool
	// Results bound what results may take of a model's context.
	Results ResultOptions
	// Toolset says which tools models are told of.
	Toolset ToolsetOptions
	// Time says how long a command may run.
	Time CommandTime
}

// Tuning is what the options say of it.
func (o *Options) Tuning() Tuning {
	l := &o.Limits
	t := Tuning{
		MaxConcurrent: l.MaxConcurrent, MaxCalls: l.MaxCalls, MaxPerPlugin: l.MaxPerPlugin,
		Cascade: l.Cascade, PlainBatches: l.PlainBatches,
		Results: o.Results, Toolset: o.Model.Toolset,
	}
	if o.Shell != nil {
		t.Time = o.Shell.Time
	}
	return t
}

// check returns what is wrong with the tuning, as for options.
func (t *Tuning) check() error {
	o := Options{Limits: LimitOptions{
		MaxConcurrent: t.MaxConcurrent, MaxCalls: t.MaxCalls, MaxPerPlugin: t.MaxPerPlugin, Cascade: t.Cascade,
	}}
	var f faults
	o.checkLimits(&f)
	t.Time.check(&f)
	return errors.Join(f...)
}

// tune puts a tuning into force. It is called under h.mu, or before the host is shared.
func (h *Host) tune(shared *session.Host, t *Tuning) {
	own := *t
	shared.Calls.NoLocks.Store(own.PlainBatches)
	h.engines.commands.SetTime(shell.Time(own.Time))
	limits := session.Limits{
		MaxConcurrent: own.MaxConcurrent, MaxHeld: h.options.Limits.MaxHeldResults,
		Cascade: own.Cascade, PlainBatches: own.PlainBatches, Slots: h.slots(&own),
	}
	shared.Tune(&session.Tuning{Toolset: own.Toolset, Results: own.Results, Limits: limits})
	h.tuning = &own
}

// slots is the pool of the calls of all sessions; nil is no bound. While its bounds stay, so
// does the pool. Calls that run when they change are of the former one.
func (h *Host) slots(t *Tuning) *scheduler.Pool {
	was := h.tuning
	switch {
	case was != nil && was.MaxCalls == t.MaxCalls && was.MaxPerPlugin == t.MaxPerPlugin:
	case t.MaxCalls > 0 || t.MaxPerPlugin > 0:
		h.pool = scheduler.NewPool(scheduler.PoolOptions{Max: t.MaxCalls, MaxPerGroup: t.MaxPerPlugin})
	default:
		h.pool = nil
	}
	return h.pool
}
