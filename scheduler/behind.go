package scheduler

import "time"

// vacate gives the room of a complete job to others, at once or when what goes on
// behind its result has ended. The caller holds the mutex.
func (s *Scheduler) vacate(e *entry) {
	if e.outcome.Behind == nil {
		s.room.leave(e)
		return
	}
	select {
	case <-e.outcome.Behind:
		s.room.leave(e)
	default:
		s.behind++
		go s.follow(e)
	}
}

// follow waits for what goes on behind a result. No context cuts that short: it
// is what is left when a context has ended.
func (s *Scheduler) follow(e *entry) {
	timer := time.NewTimer(s.options.MaxBehind)
	defer timer.Stop()
	select {
	case <-e.outcome.Behind:
	case <-timer.C:
		if s.options.Abandoned != nil {
			s.options.Abandoned(e.Job)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.leave(e)
	s.behind--
	if s.behind == 0 {
		s.idle.Broadcast()
	}
	s.advance()
}
