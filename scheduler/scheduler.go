package scheduler

import (
	"context"
	"sync"
)

// Scheduler runs the jobs of one turn. Its methods are safe for concurrent use.
type Scheduler struct {
	options Options
	line    line       // for slots
	mu      sync.Mutex // guards all below
	queue   queue
	results results
	crew    crew
	unwatch func() // stops watching the context; nil while no job had to wait
}

// New returns a Scheduler for one turn, which ends early when ctx does. Wait
// must be called in the end.
func New(ctx context.Context, o Options) *Scheduler {
	o.setDefaults()
	s := &Scheduler{options: o}
	s.line.pool = o.Pool
	s.crew.idle.L = &s.mu
	q := &s.queue
	q.options, q.all, q.batch, q.batches = &s.options, q.few[:0], noBatch+1, noBatch+1
	q.contexts.options, q.contexts.parent = &s.options, ctx
	q.effects.options, q.effects.locks, q.effects.mu = &s.options, &q.active.locks, &s.mu
	s.results = results{options: &s.options, mu: &s.mu, jobs: &q.jobs}
	return s
}

// Add puts a job at the end of the queue, and its turn may come at once. It
// asks job.Traits and calls nothing else itself. After Close it answers
// [ErrClosed] and leaves the job alone.
func (s *Scheduler) Add(job Job) error { return s.add(&entry{Job: job}) }

// AddIndependent puts a job at the end of the queue that stands for itself: it ends with ctx,
// which must end when that of the scheduler does, and with no other job. Its effects are
// settled before it releases what it locked, and its result leaves when it is complete, perhaps
// while others do. A Scheduler takes either such jobs or others. Interrupt and Discard do
// not reach those that have begun.
func (s *Scheduler) AddIndependent(ctx context.Context, job Job) error {
	e := &entry{Job: job, own: ctx}
	if err := s.add(e); err != nil {
		return err
	}
	unwatch := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if e.state == Queued {
			s.queue.withdraw(e, context.Cause(ctx))
			s.advance()
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.state == Yielded {
		unwatch()
		return nil
	}
	e.unwatch = unwatch
	return nil
}

func (s *Scheduler) add(e *entry) error {
	e.asked = s.queue.alones.Load()
	e.traits = s.options.ask(e.Job)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.closed {
		return ErrClosed
	}
	s.queue.add(e)
	s.options.observe(e, Queued)
	s.queue.cancelIfReached(e)
	s.advance()
	return nil
}

// Close says that no more jobs will be added.
func (s *Scheduler) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.closed = true
}

// Wait closes the Scheduler, runs the job that was kept for this goroutine
// ([Options].Lend), and returns when every job has yielded, or was
// dropped, and is settled, and every goroutine has ended but those that wait for
// leftovers; see [Scheduler.Drain]. Contexts that jobs were given end then.
func (s *Scheduler) Wait() {
	s.mu.Lock()
	s.queue.closed = true
	begun := &s.queue.begun
	e := begun.mine
	begun.mine, begun.lent = nil, true // a job that waited from here on would wait for ever
	if e != nil {
		t := turn{s: s, e: e}
		t.lead()
		s.deliver()
		s.hire()
	}
	for s.crew.live > 0 || s.queue.left < len(s.queue.all) {
		s.crew.idle.Wait()
	}
	s.queue.contexts.siblings.end(nil) // with NoInterrupt they are not below all
	s.queue.contexts.all.end(nil)
	unwatch := s.unwatch
	s.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	s.queue.effects.settleRest()
}

// Drain waits for the leftovers of jobs whose results have left. Wait must have
// returned.
func (s *Scheduler) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.crew.leftovers > 0 {
		s.crew.idle.Wait()
	}
}

// Interrupt ends what may be ended: jobs that run without [Traits].Block see their
// context end with the cause, and jobs that do not run yet, those added later
// included, fail with it.
func (s *Scheduler) Interrupt(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.queue.contexts
	c.stop(cause)
	c.all.interrupt(c.cause)
	s.advance()
}

// Discard ends everything: nothing more starts, and no result leaves. Jobs that
// run see their context end with the cause; every job that has not yielded is
// dropped.
func (s *Scheduler) Discard(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.queue.contexts
	c.stop(cause)
	c.all.end(cause)
	s.results.discarded = true
	s.advance()
}

// Interruptible reports whether an interrupt would end all that runs.
func (s *Scheduler) Interruptible() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.contexts.blocking == 0
}
