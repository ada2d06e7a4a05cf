package scheduler

import (
	"context"
	"slices"
	"sync"
)

// crew counts the goroutines of a scheduler. Its mutex guards it.
type crew struct {
	idle      sync.Cond // signalled when the last goroutine ends
	live      int       // but for those that wait for leftovers
	leftovers int       // goroutines that wait for leftovers
	coming    bool      // a worker is on its way
	failing   bool      // one gives the cancelled their failure
	rechecks  bool      // one asks a job again
}

// advance begins the turns that may begin now, and hires for them. The caller holds the
// mutex.
func (s *Scheduler) advance() {
	s.queue.beginNext()
	s.hire()
}

// hire starts the goroutines that are needed. One worker on its way is enough: when it
// takes something up, it hires the next for what is left. Mostly a worker that has ended a
// turn takes the next one up before it comes, so that a row of short jobs costs few
// goroutines. The caller holds the mutex.
func (s *Scheduler) hire() {
	q := &s.queue
	if !s.crew.coming && (q.begun.head != nil || s.results.due()) {
		s.crew.coming = true
		s.crew.live++
		go s.work()
	}
	if !s.crew.failing && len(q.cancelled) > 0 {
		s.crew.failing = true
		s.crew.live++
		go s.failCancelled()
	}
	if !s.crew.rechecks && q.rechecked != nil {
		s.crew.rechecks = true
		s.crew.live++
		go s.recheck(q.rechecked)
	}
	if s.unwatch == nil && (q.next < len(q.all) || len(q.demoted) > 0) {
		s.unwatch = watch(q.contexts.parent, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.advance()
		})
	}
}

// work is the goroutine of a worker, which has the turns of jobs, and lets results
// leave, until there is nothing to do. A job may end it anywhere, and the mutex is
// held then.
func (s *Scheduler) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.leave()
	s.crew.coming = false
	s.deliver()
	for e := s.queue.begun.pop(); e != nil; e = s.queue.begun.pop() {
		s.hire()
		t := turn{s: s, e: e}
		t.lead()
		s.deliver()
	}
}

// deliver lets results leave, unless another goroutine does. The caller holds the mutex.
func (s *Scheduler) deliver() {
	if s.results.due() {
		s.results.leaving = true
		s.hire() // this goroutine may be long
		s.results.deliver()
	}
}

// leave counts a goroutine out, and hires for what it leaves undone. The caller holds
// the mutex.
func (s *Scheduler) leave() {
	s.hire()
	s.crew.live--
	if s.crew.live == 0 {
		s.crew.idle.Broadcast()
	}
}

// failCancelled is the goroutine that gives cancelled jobs their failure. Only then do
// results leave: a slow Yield must not keep a job from its failure. A job may end it.
func (s *Scheduler) failCancelled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.leave()
	defer func() { s.crew.failing = false }()
	for q := &s.queue; len(q.cancelled) > 0; {
		e := pop(&q.cancelled)
		q.failCancelled(e)
		if e.own != nil {
			s.crew.live++
			go s.dismiss(e)
		}
	}
}

// dismiss is the goroutine that lets the failure of an independent job leave.
func (s *Scheduler) dismiss(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.leave()
	s.leaves(e)
}

// recheck asks the first job of the queue again for its traits, and begins the turns it
// held back. A job may end the goroutine.
func (s *Scheduler) recheck(e *entry) {
	before := s.queue.alones.Load()
	var now Traits
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.queue.answered(&now, before)
		s.queue.beginNext()
		s.crew.rechecks = false
		s.leave()
	}()
	now = s.options.ask(e.Job)
}

// follow waits for the leftovers of a job, and then releases what the job locked.
func (s *Scheduler) follow(e *entry) {
	s.options.Leftovers.wait(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.active.leave(e)
	s.crew.leftovers--
	if s.crew.leftovers == 0 {
		s.crew.idle.Broadcast()
	}
	s.advance()
}

// lead admits and runs the job. The caller holds the mutex, which is free meanwhile. What
// must happen in any case is deferred: a job may end its goroutine.
func (t *turn) lead() {
	t.s.mu.Unlock()
	defer t.finish()
	defer t.conclude()
	t.how = t.take()
}

func (t *turn) take() ending {
	if !t.admit() {
		return ended
	}
	if !t.review() {
		return demoted
	}
	if !t.execute() {
		t.s.options.fail(t.e, context.Cause(t.e.ctx))
		return ended
	}
	t.run()
	return ended
}

// execute takes a slot for the admitted job, waiting for one if it must, and lets the next
// job be admitted. It reports false if the job must not run any more.
func (t *turn) execute() bool {
	s, e := t.s, t.e
	e.slot.line, e.slot.order, e.slot.group = &s.line, e.index, e.traits.Group
	s.mu.Lock()
	defer s.mu.Unlock()
	for e.ctx.Err() == nil {
		wait := s.obtain(e)
		if wait == nil {
			s.queue.execute(e)
			s.advance()
			return true
		}
		s.mu.Unlock()
		select {
		case <-wait:
		case <-e.ctx.Done():
		}
		s.mu.Lock()
	}
	e.slot.release(true)
	s.results.parked = slices.DeleteFunc(s.results.parked, func(other *entry) bool { return other == e })
	return false
}

// obtain gets what a job needs to run: its locks, room for its result, a slot. If it does not
// have all of them it returns what is closed when it is worth asking again. Who has a slot
// never waits for locks, since who has those may wait for a slot; and who waits for a reader
// has neither. The caller holds the mutex.
func (s *Scheduler) obtain(e *entry) <-chan struct{} {
	if wait := s.options.Table.ask(e); wait != nil {
		e.slot.release(false)
		return wait
	}
	wait := s.results.ask(e)
	if wait != nil && wait == e.parked {
		e.release()
	}
	return wait
}

// run makes the job do its work.
func (t *turn) run() {
	e, failed := t.e, true
	// What a failure cancels, and what a full memory holds back, must not get the
	// slot.
	defer e.slot.release(true)
	defer func() { t.ran(failed) }()
	if t.s.options.attempt(e, "Run", func() { e.outcome = e.Run(e.ctx, &e.slot) }) {
		failed = e.outcome.Failed
	}
}

// ran draws the consequences of the job's outcome for others. A job that was
// cancelled has not failed.
func (t *turn) ran(failed bool) {
	s, e := t.s, t.e
	e.outcome.Held = max(e.outcome.Held, 0)
	spreads := failed && e.traits.Cascade && e.ctx.Err() == nil
	if !spreads && e.outcome.Held == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results.held += e.outcome.Held
	if spreads {
		s.queue.fail(e)
		s.hire()
	}
}

// finish ends the job's turn and begins those it held back. It takes the mutex, and
// keeps it; the caller hires.
func (t *turn) finish() {
	s, e := t.s, t.e
	s.mu.Lock()
	if s.queue.end(e, t.how) {
		s.crew.leftovers++
		go s.follow(e)
	}
	if t.how == demoted {
		s.results.unpark()
	}
	s.queue.beginNext()
	if t.how != demoted {
		s.leaves(e)
	}
}

// leaves lets the result of an independent job leave. The caller holds the mutex, which is
// free meanwhile.
func (s *Scheduler) leaves(e *entry) {
	if e.own == nil {
		return
	}
	s.hire() // it may take long
	if e.unwatch != nil {
		e.unwatch()
	}
	s.results.yield(e)
}
