package scheduler

// ask asks a job for its traits.
func (s *Scheduler) ask(job Job) (t Traits) {
	if p := guard("Traits", func() { t = job.Traits() }); p != nil {
		return Traits{}
	}
	if s.options.Plain {
		t.Locked = false
	}
	if !t.Locked {
		t.Locks = nil
	}
	return t
}

// outdated reports whether a job's locks may be on something else by now: one that
// ran alone has ended since it was asked. The caller holds the mutex.
func (s *Scheduler) outdated(e *entry) bool {
	return e.traits.Locked && e.asked != s.alones.Load()
}

// askOn has a goroutine ask the first job of the queue again. Only that one is
// asked: what is behind it need not be asked as often as one runs alone before it.
// The caller holds the mutex.
func (s *Scheduler) askOn() {
	if s.asked == nil {
		s.asked = s.jobs[s.next]
		s.live++
		go s.askAgain(s.asked)
	}
}

// askAgain asks a job again, and begins the turns it held back. What must happen in
// any case is deferred: a job may end its goroutine.
func (s *Scheduler) askAgain(e *entry) {
	before := s.alones.Load()
	var now Traits
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = nil
		if e.doomed != nil { // meanwhile
			s.doomed = append(s.doomed, e)
			s.reapOn()
		} else {
			s.answered(e, &now, before)
		}
		s.beginNext()
		s.leave()
	}()
	now = s.ask(e.Job)
}

// answered notes what a job said when it was asked again. The caller holds the mutex.
func (s *Scheduler) answered(e *entry, now *Traits, before int64) {
	e.asked = before
	s.room.locks.forget(e)
	e.traits.Safe, e.traits.Locked, e.traits.Locks = now.Safe, now.Locked, now.Locks
	if !now.Safe && !now.Locked {
		s.split(e)
	}
}

// split has a queued job run alone, between two batches. The caller holds the mutex.
func (s *Scheduler) split(e *entry) {
	was, behind := e.batch, s.newBatch()
	e.batch = noBatch
	for _, other := range s.jobs[e.index+1:] {
		switch {
		case other == nil: // it was doomed, and has left
		case other.batch == was:
			other.batch = behind
		default:
			return
		}
	}
	s.batch = behind
}

func (s *Scheduler) newBatch() int {
	s.batches++
	return s.batches
}
