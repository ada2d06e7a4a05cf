package scheduler

import "slices"

// acquire takes a slot for an admitted job, waiting for one if it must, and
// reports whether it got one before the context ended. Where several wait, the
// first in call order is served first, so that results can leave soonest.
func (s *Scheduler) acquire(e *entry) bool {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.execute(e)
		s.mu.Unlock()
		return true
	}
	e.granted = make(chan struct{})
	s.waiting = insert(s.waiting, e)
	s.mu.Unlock()
	select {
	case <-e.granted:
		return true
	case <-s.ctx.Done():
		return s.giveUp(e)
	}
}

// giveUp stops waiting for a slot, and reports whether one was handed over in
// the meantime.
func (s *Scheduler) giveUp(e *entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.waiting, e)
	if at < 0 {
		return true
	}
	s.waiting = slices.Delete(s.waiting, at, at+1)
	return false
}

// release gives a slot back, or on to the next job that waits.
func (s *Scheduler) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.free++
		return
	}
	e := s.waiting[0]
	s.waiting = slices.Delete(s.waiting, 0, 1)
	s.execute(e)
	close(e.granted)
}

// execute marks a job that has a slot, and lets the next one be admitted. The
// caller holds the mutex.
func (s *Scheduler) execute(e *entry) {
	s.admitting--
	s.observe(e, Executing)
	s.advance()
}
