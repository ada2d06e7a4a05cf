package scheduler

import (
	"context"
	"runtime/debug"
)

// outcome is how a job's turn ended.
type outcome uint8

const (
	exited  outcome = iota // its goroutine ended under it
	ended                  // it has its result
	demoted                // it must wait until it can run alone
)

// lead is the goroutine of one turn of a job. What must happen in any case is
// deferred: a job may end its goroutine.
func (s *Scheduler) lead(e *entry) {
	how := exited
	defer s.leave()
	defer s.deliver()
	defer func() { s.finish(e, how) }()
	how = s.turn(e)
}

// turn admits and runs a job.
func (s *Scheduler) turn(e *entry) outcome {
	if e.alone {
		s.mu.Lock()
		batch := s.takeUnsettled()
		s.mu.Unlock()
		s.settle(batch)
	}
	admitted := false
	if !s.attempt(e, "Admit", func() { admitted = e.Admit(s.ctx) }) || !admitted {
		return ended
	}
	if !e.alone && !s.stillSafe(e) {
		return demoted
	}
	if !s.acquire(e) {
		s.fail(e, context.Cause(s.ctx))
		return ended
	}
	defer s.release()
	s.attempt(e, "Run", func() { e.Run(s.ctx) })
	return ended
}

func (s *Scheduler) stillSafe(e *entry) bool {
	safe := false
	p := guard("Safe", func() { safe = e.Safe() })
	return p == nil && safe
}

// attempt calls a method of a job unless the context has ended, and reports
// whether it returned. If not, the job has failed.
func (s *Scheduler) attempt(e *entry, method string, call func()) bool {
	if s.ctx.Err() != nil {
		s.fail(e, context.Cause(s.ctx))
		return false
	}
	if p := guard(method, call); p != nil {
		s.fail(e, p)
		return false
	}
	return true
}

// finish ends a job's turn and begins those it held back.
func (s *Scheduler) finish(e *entry, how outcome) {
	if how == exited {
		s.fail(e, ErrExited)
	}
	if how != demoted && e.alone {
		s.settle([]*entry{e})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.state == Admitting {
		s.admitting--
	}
	s.active--
	if e.alone {
		s.alone = false
	}
	if how == demoted {
		s.observe(e, Queued)
		s.demoted = insert(s.demoted, e)
	} else {
		s.complete(e)
	}
	s.advance()
}

// complete marks a job that has its result. The caller holds the mutex.
func (s *Scheduler) complete(e *entry) {
	s.observe(e, Completed)
	if !e.alone {
		s.unsettled = append(s.unsettled, e)
	}
}

// deliver lets results leave in call order, as far as they are complete. One
// goroutine at a time does so for all.
func (s *Scheduler) deliver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.yielding {
		return
	}
	s.yielding = true
	defer func() { s.yielding = false }()
	for s.yielded < len(s.jobs) && s.jobs[s.yielded].state == Completed {
		s.yield(s.jobs[s.yielded])
	}
}

// yield gives the mutex up while a result leaves.
func (s *Scheduler) yield(e *entry) {
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.observe(e, Yielded)
		s.jobs[s.yielded] = nil // the turn may be long; let the job go
		s.yielded++
	}()
	s.report(e, guard("Yield", e.Yield))
}

// settle applies the effects of jobs. A panic becomes the failure of a job that
// ran alone, whose result has not left.
func (s *Scheduler) settle(batch []*entry) {
	for _, e := range batch {
		p := guard("Settle", e.Settle)
		if p != nil && e.alone {
			s.fail(e, p)
			continue
		}
		s.report(e, p)
	}
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
