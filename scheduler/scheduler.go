package scheduler

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// The defaults of [Options].
const (
	DefaultMaxConcurrent = 10
	DefaultMaxAdmitting  = 64
)

// Options configure a [Scheduler]. The zero value is ready for use.
type Options struct {
	// MaxConcurrent is how many jobs run at once; below 1 it is
	// DefaultMaxConcurrent.
	MaxConcurrent int
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
	// jobs beforehand. Such jobs must not end their goroutine.
	Lend func(Job) bool
}

// Scheduler runs the jobs of one turn. Its methods are safe for concurrent use.
type Scheduler struct {
	ctx     context.Context
	options Options

	mu   sync.Mutex
	idle sync.Cond // signalled when the last goroutine leaves
	jobs []*entry  // all of them, in call order
	// next is the first job whose turn has not come, and yielded the first
	// whose result has not left.
	next, yielded int
	// demoted are jobs that became unsafe and wait to run alone, in call order.
	demoted []*entry
	// unsettled are the complete jobs of the current batch.
	unsettled []*entry
	// free counts the slots nobody holds, and waiting are the jobs that wait
	// for one, in call order. One of the two is empty.
	free      int
	waiting   []*entry
	active    int  // jobs whose turn has come and that are not complete
	admitting int  // those of them without a slot
	alone     bool // the active job runs alone
	live      int  // goroutines, and the job that is held for Wait
	closed    bool
	// unwatch stops watching the context and waits for what its end set off; nil
	// while nothing had to wait.
	unwatch func()
	// held is the job whose turn has come and that waits for the goroutine that
	// calls Wait. None is once Wait was called, which lent says.
	held     *entry
	lent     bool
	yielding bool // a goroutine is letting results leave
	ending   bool // a goroutine is ending what is queued
}

// entry is a job with its place and state. The fields are guarded by the
// Scheduler's mutex, but for alone and failed, which belong to the goroutine
// that has the job in hand.
type entry struct {
	Job
	index  int
	safe   bool
	state  State
	alone  bool
	failed bool
	// granted is closed when a slot is handed to a job that waits for one.
	granted chan struct{}
}

// insert puts a job where it belongs in a list in call order.
func insert(list []*entry, e *entry) []*entry {
	at, _ := slices.BinarySearchFunc(list, e, byIndex)
	return slices.Insert(list, at, e)
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
	s := &Scheduler{
		ctx:     ctx,
		options: o,
		free:    o.MaxConcurrent,
	}
	s.idle.L = &s.mu
	return s
}

// watch has the end of the context end what is queued. Without it only what
// happens to the jobs leads on, which is enough while all of them have their
// turn. The caller holds the mutex.
func (s *Scheduler) watch() {
	if s.unwatch != nil {
		return
	}
	watched := make(chan struct{})
	stop := context.AfterFunc(s.ctx, func() {
		defer close(watched)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.advance()
	})
	s.unwatch = sync.OnceFunc(func() {
		if !stop() {
			<-watched
		}
	})
}

// Add puts a job at the end of the queue, and its turn may come at once. It
// asks job.Safe and calls nothing else itself. After Close it answers
// [ErrClosed] and leaves the job alone.
func (s *Scheduler) Add(job Job) error {
	e := &entry{Job: job}
	if p := guard("Safe", func() { e.safe = job.Safe() }); p != nil {
		e.safe = false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	e.index = len(s.jobs)
	s.jobs = append(s.jobs, e)
	s.observe(e, Queued)
	s.advance()
	return nil
}

// Close says that no more jobs will be added.
func (s *Scheduler) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// Wait closes the Scheduler and returns when every job has yielded and is
// settled and every goroutine has ended.
func (s *Scheduler) Wait() {
	s.mu.Lock()
	s.closed = true
	s.work()
	for s.live > 0 || s.yielded < len(s.jobs) {
		s.idle.Wait()
	}
	rest, unwatch := s.takeUnsettled(), s.unwatch
	s.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	s.settle(rest)
}

// work gives the held job its turn on this goroutine. No other is held from here
// on: it would wait for this one. The caller holds the mutex.
func (s *Scheduler) work() {
	e := s.held
	s.held, s.lent = nil, true
	if e == nil {
		return
	}
	s.mu.Unlock()
	s.lead(e)
	s.mu.Lock()
}

// advance begins the turn of every job that may have it now, or ends them all
// if the context has. The caller holds the mutex.
func (s *Scheduler) advance() {
	if s.ctx.Err() != nil {
		if !s.ending && (len(s.demoted) > 0 || s.next < len(s.jobs)) {
			s.ending = true
			s.live++
			go s.abandon()
		}
		return
	}
	s.beginNext()
	if s.next < len(s.jobs) || len(s.demoted) > 0 {
		s.watch()
	}
}

// beginNext begins the turns that may begin. The caller holds the mutex.
func (s *Scheduler) beginNext() {
	if len(s.demoted) > 0 {
		if s.active == 0 {
			e := s.demoted[0]
			s.demoted = slices.Delete(s.demoted, 0, 1)
			s.begin(e, true)
		}
		return
	}
	for s.next < len(s.jobs) && !s.alone {
		e := s.jobs[s.next]
		if e.safe && s.admitting >= s.options.MaxAdmitting || !e.safe && s.active > 0 {
			return
		}
		s.next++
		s.begin(e, !e.safe)
	}
}

// begin starts a job's turn. The caller holds the mutex.
func (s *Scheduler) begin(e *entry, alone bool) {
	s.active++
	s.admitting++
	s.live++
	s.alone = alone
	e.alone = alone
	s.observe(e, Admitting)
	if s.options.Lend == nil || s.lent || !s.options.Lend(e.Job) {
		go s.lead(e)
		return
	}
	if s.held != nil {
		go s.lead(s.held)
	}
	s.held = e
}

// observe sets a job's state. The caller holds the mutex.
func (s *Scheduler) observe(e *entry, state State) {
	e.state = state
	if s.options.Observe != nil {
		s.options.Observe(e.Job, state)
	}
}

// takeUnsettled returns, in call order, the jobs of the current batch, which is
// over. The caller holds the mutex.
func (s *Scheduler) takeUnsettled() []*entry {
	batch := s.unsettled
	s.unsettled = nil
	slices.SortFunc(batch, byIndex)
	return batch
}

// abandon ends, in call order, every job whose turn has not come when the
// context ends.
func (s *Scheduler) abandon() {
	defer s.leave()
	for {
		s.mu.Lock()
		e := s.takeQueued()
		if e == nil {
			s.ending = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		s.fail(e, context.Cause(s.ctx))
		s.mu.Lock()
		s.complete(e)
		s.mu.Unlock()
		s.deliver()
	}
}

// takeQueued takes the first job off the queue. The caller holds the mutex.
func (s *Scheduler) takeQueued() *entry {
	if len(s.demoted) > 0 {
		e := s.demoted[0]
		s.demoted = slices.Delete(s.demoted, 0, 1)
		return e
	}
	if s.next < len(s.jobs) {
		s.next++
		return s.jobs[s.next-1]
	}
	return nil
}

// leave counts a goroutine out.
func (s *Scheduler) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live--
	if s.live == 0 {
		s.idle.Broadcast()
	}
}
