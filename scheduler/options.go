package scheduler

import "time"

// The defaults of [Options].
const (
	DefaultMaxConcurrent   = 10
	DefaultMaxAdmitting    = 64
	DefaultLeftoverTimeout = 5 * time.Second
)

// Options configure a [Scheduler]. The zero value is ready for use. Interruptible,
// Observe and Lend must be quick and must not call the Scheduler.
type Options struct {
	// Pool is where slots come from; nil makes one of MaxConcurrent slots. The
	// scheduler of calls that a job makes in turn is given the pool of the job's
	// own, and the job lends its slot meanwhile ([Slot.Lend]), so that a pool never
	// waits for itself.
	Pool *Pool
	// MaxConcurrent is how many jobs run at once where there is no Pool; below 1
	// it is DefaultMaxConcurrent.
	MaxConcurrent int
	// MaxHeld bounds the memory of results that have not left: while they hold
	// more, only the first job whose result has not left may take a slot. 0 is no
	// bound.
	MaxHeld int64
	// Leftovers bounds what jobs leave running; see [Outcome].
	Leftovers LeftoverOptions
	// Cascade is how far failures reach; see [Traits].
	Cascade Cascade
	// Table, if set, keeps jobs from running beside those of other schedulers with the
	// same Table, where their locks conflict. The scheduler of calls that a locked job makes
	// in turn has none: the job has their locks.
	Table *Table
	// Plain ignores locks: consecutive safe jobs form a batch, every other one is
	// a batch of its own.
	Plain bool
	// NoInterrupt says that neither Interrupt nor Discard will be called, which
	// spares a context: running jobs would not see them.
	NoInterrupt bool
	// Interruptible, if set, is called whenever it changes whether an interrupt
	// would end all running jobs.
	Interruptible func(bool)
	// MaxAdmitting is how many jobs may be between the start of their turn and
	// a slot, most of them waiting for people or for a slot; below 1 it is
	// DefaultMaxAdmitting. It bounds memory and goroutines.
	MaxAdmitting int
	// Observe, if set, is called for every change of a job's state, in order.
	Observe func(Job, State)
	// Panicked, if set, is called for panics that cannot become a job's failure:
	// those of Fail and Yield, and of Settle where the result may have left
	// already. Without it they go unseen.
	Panicked func(Job, *PanicError)
	// Lend, if set, says which jobs may have their turn on the goroutine that
	// calls Wait, which saves them one of their own. The last of those whose
	// turn comes waits for Wait, so that it suits callers that know all their
	// jobs beforehand. Such jobs must not end their goroutine.
	Lend func(Job) bool
}

// LeftoverOptions bound what a job leaves running after its result.
type LeftoverOptions struct {
	// Timeout is how long leftovers may keep what their job locked; 0 is
	// DefaultLeftoverTimeout.
	Timeout time.Duration
	// Abandoned, if set, is called after the timeout, on a goroutine of its own and
	// before others get what was locked.
	Abandoned func(Job)
}

func (o *Options) setDefaults() {
	if o.MaxConcurrent < 1 {
		o.MaxConcurrent = DefaultMaxConcurrent
	}
	if o.MaxAdmitting < 1 {
		o.MaxAdmitting = DefaultMaxAdmitting
	}
	if o.Leftovers.Timeout <= 0 {
		o.Leftovers.Timeout = DefaultLeftoverTimeout
	}
	if o.Pool == nil {
		o.Pool = NewPool(PoolOptions{Max: o.MaxConcurrent})
	}
}
