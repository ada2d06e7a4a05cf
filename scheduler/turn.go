package scheduler

import (
	"context"
	"runtime/debug"
)

// ending is how a job's turn ended.
type ending uint8

const (
	exited  ending = iota // its goroutine ended under it
	ended                 // it has its result
	demoted               // it must wait until it can run alone
)

// lead has one turn of a job. The mutex is held in the end. What must happen in any
// case is deferred: a job may end its goroutine.
func (s *Scheduler) lead(e *entry) {
	how := exited
	defer func() { s.finish(e, how) }()
	defer func() { s.conclude(e, how) }()
	how = s.turn(e)
}

// turn admits and runs a job.
func (s *Scheduler) turn(e *entry) ending {
	s.settleBefore(e)
	if e.ctx.Err() != nil {
		s.fail(e, context.Cause(e.ctx))
		return ended
	}
	admitted := false
	if !s.attempt(e, "Admit", func() { admitted = e.Admit(e.ctx) }) || !admitted {
		return ended
	}
	if !s.review(e) {
		return demoted
	}
	ctx := s.acquire(e)
	if ctx == nil {
		s.fail(e, context.Cause(e.ctx))
		return ended
	}
	s.run(ctx, e)
	return ended
}

// review asks an admitted job again for its traits, and reports whether the room
// that it was given is enough. It keeps that in any case.
func (s *Scheduler) review(e *entry) bool {
	now := s.ask(e.Job)
	e.traits.Block, e.traits.Group = now.Block, now.Group
	if now.Cascade != e.traits.Cascade {
		e.traits.Cascade = now.Cascade
		s.mu.Lock()
		e.ctx = s.contextOf(e, false)
		s.mu.Unlock()
	}
	return e.alone || !outgrown(&e.traits, &now)
}

// acquire takes a slot for an admitted job, waiting for one if it must, and
// returns the context to run with; nil if the job is not to run any more.
func (s *Scheduler) acquire(e *entry) context.Context {
	e.slot.line, e.slot.order, e.slot.group = &s.line, e.index, e.traits.Group
	s.mu.Lock()
	defer s.mu.Unlock()
	for e.ctx.Err() == nil {
		var wait <-chan struct{}
		if !s.mayHold(e) {
			e.slot.giveBack()
			wait = s.park(e)
		} else if wait = e.slot.ask(); wait == nil {
			return s.execute(e)
		}
		s.mu.Unlock()
		select {
		case <-wait:
		case <-e.ctx.Done():
		}
		s.mu.Lock()
	}
	e.slot.end()
	s.leavePark(e)
	return nil
}

// execute marks a job that has a slot, and lets the next one be admitted. The
// caller holds the mutex.
func (s *Scheduler) execute(e *entry) context.Context {
	s.admitting--
	ctx := e.ctx
	if e.traits.Block {
		ctx = s.contextOf(e, true)
		s.block(1)
	}
	s.observe(e, Executing)
	s.advance()
	return ctx
}

// run has a job do its work.
func (s *Scheduler) run(ctx context.Context, e *entry) {
	failed := true
	// What a failure cancels, and what a full memory holds back, must not get the
	// slot.
	defer e.slot.end()
	defer func() { s.ran(ctx, e, failed) }()
	if s.attempt(e, "Run", func() { e.outcome = e.Run(ctx, &e.slot) }) {
		failed = e.outcome.Failed
	}
}

// ran draws the consequences of a job's outcome for others. A job that was
// cancelled is none that failed.
func (s *Scheduler) ran(ctx context.Context, e *entry, failed bool) {
	e.outcome.Held = max(e.outcome.Held, 0)
	spreads := failed && e.traits.Cascade && ctx.Err() == nil
	if !spreads && e.outcome.Held == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += e.outcome.Held
	if spreads {
		s.cascade(e)
	}
}

// attempt calls a method of a job and reports whether it returned. If it
// panicked, the job has failed.
func (s *Scheduler) attempt(e *entry, method string, call func()) bool {
	p := guard(method, call)
	if p != nil {
		s.fail(e, p)
	}
	return p == nil
}

// conclude applies the effects of a job that is not safe, while it has its room
// and its result has not left.
func (s *Scheduler) conclude(e *entry, how ending) {
	if how == exited {
		s.fail(e, ErrExited)
	}
	if how != demoted && (e.alone || !e.traits.Safe) {
		s.settleNow(e)
	}
}

// finish ends a job's turn and begins those it held back. It takes the mutex, and
// keeps it.
func (s *Scheduler) finish(e *entry, how ending) {
	s.mu.Lock()
	if e.alone {
		s.alones.Add(1)
	}
	if e.state == Admitting {
		s.admitting--
	} else if e.traits.Block {
		s.block(-1)
	}
	switch {
	case how == demoted:
		s.room.leave(e)
		s.demote(e)
	case e.alone || !e.traits.Safe:
		s.observe(e, Completed)
		s.vacate(e)
	default:
		s.hold(e)
		s.observe(e, Completed)
		s.vacate(e)
	}
	s.beginNext()
}

// fail gives a job its failure, the first one only.
func (s *Scheduler) fail(e *entry, err error) {
	if e.failed {
		return
	}
	e.failed = true
	s.report(e, guard("Fail", func() { e.Fail(err) }))
}

func (s *Scheduler) report(e *entry, p *PanicError) {
	if p != nil && s.options.Panicked != nil {
		s.options.Panicked(e.Job, p)
	}
}

// guard calls a method of a job and returns its panic, if it has one.
func guard(method string, call func()) (p *PanicError) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if value := recover(); value != nil {
			p = &PanicError{Method: method, Value: value, Stack: debug.Stack()}
		}
	}()
	call()
	returned = true
	return nil
}
