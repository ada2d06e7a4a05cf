package host

import (
	"sync"
	"sync/atomic"

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
		if o := &h.options; o.MaxCalls > 0 || o.MaxPerPlugin > 0 {
			h.shared.pool = scheduler.NewPool(scheduler.PoolOptions{Max: o.MaxCalls, MaxPerGroup: o.MaxPerPlugin})
		}
	})
	return h.shared.pool
}

// slots is the pool of the turn's calls: that of the turn it is part of, else one
// of its own.
func (t *openTurn) slots() *scheduler.Pool {
	if t.within != nil {
		return turnOf(t.within).pool
	}
	return scheduler.NewPool(scheduler.PoolOptions{
		Max:   t.session.host.options.maxConcurrent(),
		Above: t.session.host.slots(),
	})
}

func (o *Options) maxConcurrent() int {
	if o.MaxConcurrent < 1 {
		return scheduler.DefaultMaxConcurrent
	}
	return o.MaxConcurrent
}

// defaultMaxHeld is that of [Options].MaxHeldResults.
const defaultMaxHeld = 64 << 20

func (o *Options) maxHeld() int64 {
	if o.MaxHeldResults < 1 {
		return defaultMaxHeld
	}
	return o.MaxHeldResults
}
