package scheduler

import "slices"

// deliver lets results leave in call order, as far as they are complete. One
// goroutine at a time does so for all. The caller holds the mutex.
func (s *Scheduler) deliver() {
	if s.yielding || !s.deliverable() {
		return
	}
	s.yielding = true
	defer func() { s.yielding = false }() // a job may end the goroutine
	s.hire()                              // this goroutine may be long
	for s.deliverable() {
		s.yield(s.jobs[s.yielded])
	}
}

// deliverable reports whether the next result that may leave is there. The caller
// holds the mutex.
func (s *Scheduler) deliverable() bool {
	return s.yielded < len(s.jobs) && s.jobs[s.yielded].state == Completed
}

// yield gives the mutex up while a result leaves, or is dropped.
func (s *Scheduler) yield(e *entry) {
	method, call := "Yield", e.Yield
	if s.discarded {
		method, call = "Drop", e.Drop
	}
	dropped := s.discarded
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		if !dropped {
			s.observe(e, Yielded)
		}
		// The turn may be long; let the job go.
		s.jobs[s.yielded], s.few[0] = nil, nil
		s.yielded++
		s.held -= e.outcome.Held
		s.unpark()
	}()
	s.report(e, guard(method, call))
}

// mayHold reports whether a job may make a result that takes memory. The first
// whose result has not left always may, or nothing would go on; if that one waits
// until it can run alone, so may all it waits for. The caller holds the mutex.
func (s *Scheduler) mayHold(e *entry) bool {
	if s.options.MaxHeld <= 0 || s.held <= s.options.MaxHeld {
		return true
	}
	first := s.jobs[s.yielded]
	return first == e || first.state == Queued && first.doomed == nil
}

// park has a job wait until it may hold a result. The caller holds the mutex.
func (s *Scheduler) park(e *entry) <-chan struct{} {
	e.parked = make(chan struct{})
	s.parked = insert(s.parked, e)
	return e.parked
}

// unpark wakes the jobs that need not wait any more. The caller holds the mutex.
func (s *Scheduler) unpark() {
	s.parked = slices.DeleteFunc(s.parked, func(e *entry) bool {
		if !s.mayHold(e) {
			return false
		}
		e.slot.ask() // here, so that the first in call order is the first in line
		close(e.parked)
		return true
	})
}

// leavePark is for a job that does not wait any more. The caller holds the mutex.
func (s *Scheduler) leavePark(e *entry) {
	if at := slices.Index(s.parked, e); at >= 0 {
		s.parked = slices.Delete(s.parked, at, at+1)
	}
}
