package scheduler

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The defaults of [Options].
const (
	DefaultMaxConcurrent = 10
	DefaultMaxAdmitting  = 64
	DefaultMaxBehind     = 5 * time.Second
)

// Options configure a [Scheduler]. The zero value is ready for use.
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
	// MaxBehind is how long a job may keep what it locked behind its result;
	// 0 is DefaultMaxBehind. After it Abandoned, if set, is told, on a goroutine of
	// its own and before others get what was locked.
	MaxBehind time.Duration
	Abandoned func(Job)
	// Cascade is how far failures reach; see [Traits].
	Cascade Cascade
	// Plain takes no notice of locks: consecutive safe jobs form a batch, every
	// other one is a batch of its own.
	Plain bool
	// NoInterrupt says that neither Interrupt nor Discard will be called, which
	// spares a context: what runs would not see them.
	NoInterrupt bool
	// Interruptible, if set, is told whenever it changes whether an interrupt
	// would end all that runs. It must be quick and must not call the Scheduler.
	Interruptible func(bool)
	// MaxAdmitting is how many jobs may be between the start of their turn and
	// a slot, most of them waiting for people or for a slot; below 1 it is
	// DefaultMaxAdmitting. It bounds memory and goroutines.
	MaxAdmitting int
	// Observe, if set, is told of every change of a job's state, in the order
	// in which they happen. It must be quick and must not call the Scheduler.
	Observe func(Job, State)
	// Panicked, if set, is told of panics that cannot become a job's failure:
	// those of Fail and Yield, and of Settle where the result may have left
	// already. Without it they go unseen.
	Panicked func(Job, *PanicError)
	// Lend, if set, says which jobs may have their turn on the goroutine that
	// calls Wait, which saves them one of their own. The last of those whose
	// turn comes waits for Wait, so that it suits callers that know all their
	// jobs beforehand. Such jobs must not end their goroutine. It must be quick and
	// must not call the Scheduler.
	Lend func(Job) bool
}

// Scheduler runs the jobs of one turn. Its methods are safe for concurrent use.
type Scheduler struct {
	ctx     context.Context
	options Options
	line    line // for slots

	// settling is held while effects are applied; it is taken before mu.
	settling sync.Mutex
	mu       sync.Mutex
	idle     sync.Cond // signalled when the last goroutine leaves
	jobs     []*entry  // all of them, in call order; nil for those that left
	// next is the first job whose turn has not come, and yielded the first
	// whose result has not left.
	next, yielded int
	// demoted are jobs that came to need more room and wait to run alone, in call
	// order, and doomed those that are to end before they have begun.
	demoted, doomed []*entry
	// few is the first room of jobs: most turns have one only.
	few [1]*entry

	// begun are jobs whose turn has come and that no worker has in hand yet.
	begun  lineup
	coming bool // a worker is on its way

	room      room
	effects   effects
	admitting int // jobs under way that have not had a slot
	blocking  int // jobs that run and block an interrupt

	held   int64    // bytes of results that have not left
	parked []*entry // jobs that wait until these are fewer

	// alones counts the jobs that ran alone and have ended; it is written with the
	// mutex held.
	alones atomic.Int64
	asked  *entry // the job that is asked again for its traits, if there is one

	batch    int // that of the next job that is added, unless it must run alone
	batches  int // the last one there is
	failure  failure
	scope    *scope // of all jobs; nil before it is needed
	siblings *scope // of the cascade jobs of the batch under way; nil before one
	cause    error  // why nothing begins any more, unless the context says it

	live   int // goroutines, but for those that follow what goes on behind results
	behind int // jobs behind whose result something goes on
	// unwatch stops watching the context and waits for what its end set off; nil
	// while nothing had to wait.
	unwatch func()
	// mine is the job whose turn has come and that waits for the goroutine that
	// calls Wait. None is once Wait was called, which lent says.
	mine *entry
	lent bool

	closed    bool
	discarded bool
	yielding  bool // a goroutine is letting results leave
	reaping   bool // a goroutine is ending the doomed
}

// entry is a job with its place and state. The Scheduler's mutex guards it; but
// traits and outcome are written by the goroutine alone that has the job in hand,
// and alone and failed are its own.
type entry struct {
	Job
	index   int
	traits  Traits
	batch   int
	state   State
	alone   bool
	failed  bool
	claims  bool  // its effects are held, for what it locked
	settles bool  // the effects of others are due before its turn
	doomed  error // why it fails, which did not begin
	// asked is how many jobs that run alone had ended when it was last asked for its
	// traits.
	asked int64
	// ctx ends where the job is not to begin to run.
	ctx     context.Context
	slot    Slot
	outcome Outcome
	parked  chan struct{} // closed when it need not wait for room for its result
	// nodes are those of its locks, once somebody asked for them, in node if it has one.
	nodes []*lockNode
	node  [1]*lockNode
	after *entry // the next in a lineup
}

// insert puts a job where it belongs in a list in call order.
func insert(list []*entry, e *entry) []*entry {
	at, _ := slices.BinarySearchFunc(list, e, byIndex)
	return slices.Insert(list, at, e)
}

// pop takes the first off a list, which lets go of it.
func pop(list *[]*entry) *entry {
	e := (*list)[0]
	(*list)[0] = nil
	*list = (*list)[1:]
	return e
}

func byIndex(a, b *entry) int { return cmp.Compare(a.index, b.index) }

// New returns a Scheduler for one turn, which ends early when ctx does. Wait
// must be called in the end.
func New(ctx context.Context, o Options) *Scheduler {
	if o.MaxConcurrent < 1 {
		o.MaxConcurrent = DefaultMaxConcurrent
	}
	if o.MaxAdmitting < 1 {
		o.MaxAdmitting = DefaultMaxAdmitting
	}
	if o.MaxBehind <= 0 {
		o.MaxBehind = DefaultMaxBehind
	}
	s := &Scheduler{ctx: ctx, options: o, batch: noBatch + 1, batches: noBatch + 1}
	s.line.pool = o.Pool
	if o.Pool == nil {
		s.line.pool = NewPool(PoolOptions{Max: o.MaxConcurrent})
	}
	s.jobs = s.few[:0]
	s.idle.L = &s.mu
	return s
}

// Add puts a job at the end of the queue, and its turn may come at once. It
// asks job.Traits and calls nothing else itself. After Close it answers
// [ErrClosed] and leaves the job alone.
func (s *Scheduler) Add(job Job) error {
	e := &entry{Job: job, asked: s.alones.Load()}
	e.traits = s.ask(job)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	e.index = len(s.jobs)
	e.batch = s.batch
	if !e.traits.Safe && !e.traits.Locked {
		e.batch = noBatch
		s.batch = s.newBatch()
	}
	s.jobs = append(s.jobs, e)
	s.observe(e, Queued)
	s.doomIfReached(e)
	s.advance()
	return nil
}

// Close says that no more jobs will be added.
func (s *Scheduler) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// Wait closes the Scheduler and returns when every job has yielded, or was
// dropped, and is settled, and every goroutine has ended but those of what goes on
// behind results; see [Scheduler.Drain]. Contexts that jobs were given end then.
func (s *Scheduler) Wait() {
	s.mu.Lock()
	s.closed = true
	s.leadMine()
	for s.live > 0 || s.yielded < len(s.jobs) {
		s.idle.Wait()
	}
	s.siblings.end(nil) // they are below no scope where there is no interrupt
	s.scope.end(nil)
	unwatch := s.unwatch
	s.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	s.settleRest()
}

// leadMine gives the job that waits for Wait its turn on this goroutine. No other
// does from here on: it would wait for this one. The caller holds the mutex.
func (s *Scheduler) leadMine() {
	e := s.mine
	s.mine, s.lent = nil, true
	if e == nil {
		return
	}
	s.mu.Unlock()
	s.lead(e)
	s.deliver()
	s.hire()
}

// Drain waits for what goes on behind results that have left. Wait must have
// returned.
func (s *Scheduler) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.behind > 0 {
		s.idle.Wait()
	}
}

// observe sets a job's state. The caller holds the mutex.
func (s *Scheduler) observe(e *entry, state State) {
	e.state = state
	if s.options.Observe != nil {
		s.options.Observe(e.Job, state)
	}
}
