package scheduler

// lineup is a list of jobs: first come, first served.
type lineup struct{ first, last *entry }

func (l *lineup) push(e *entry) {
	if l.first == nil {
		l.first = e
	} else {
		l.last.after = e
	}
	l.last = e
}

// pop returns the first, nil if there is none.
func (l *lineup) pop() *entry {
	e := l.first
	if e == nil {
		return nil
	}
	l.first, e.after = e.after, nil
	if l.first == nil {
		l.last = nil
	}
	return e
}

// hire sees to it that a worker is on its way while there are jobs that have begun, or
// results that may leave. One is enough: when it takes something up, it hires the next
// for what is left. A worker that has ended a turn takes the next one up itself, mostly
// before the one that was hired for it has come: so a row of short jobs costs few
// goroutines, and a long job holds back no other. The caller holds the mutex.
func (s *Scheduler) hire() {
	if s.coming || s.begun.first == nil && (s.yielding || !s.deliverable()) {
		return
	}
	s.coming = true
	s.live++
	go s.work()
}

// work is the goroutine of a worker, which has the turns of jobs, and lets results
// leave, until there is nothing to do. A job may end it anywhere, and the mutex is
// held then.
func (s *Scheduler) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.leave()
	s.coming = false
	s.deliver()
	for e := s.begun.pop(); e != nil; e = s.begun.pop() {
		s.hire()
		s.mu.Unlock()
		s.lead(e)
		s.deliver()
	}
}

// leave counts a goroutine out, and has others do what it leaves undone. The caller
// holds the mutex.
func (s *Scheduler) leave() {
	s.hire()
	s.live--
	if s.live == 0 {
		s.idle.Broadcast()
	}
}
