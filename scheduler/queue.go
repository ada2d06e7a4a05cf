package scheduler

import (
	"context"
	"sync"
)

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

// advance begins the turns that may begin now, and sees to it that they are had. The
// caller holds the mutex.
func (s *Scheduler) advance() {
	s.beginNext()
	s.hire()
}

// beginNext begins the turn of every job that may have it now, or dooms them all
// where nothing is to begin any more. The caller holds the mutex, and hires.
func (s *Scheduler) beginNext() {
	cause := s.cause
	if cause == nil && s.ctx.Err() != nil {
		cause = context.Cause(s.ctx)
	}
	if cause != nil {
		s.doomAll(cause)
		return
	}
	s.beginFitting()
	if s.next < len(s.jobs) || len(s.demoted) > 0 {
		s.watch()
	}
}

// beginFitting begins the turns that what is under way has room for. The caller
// holds the mutex.
func (s *Scheduler) beginFitting() {
	if len(s.demoted) > 0 {
		if s.room.count == 0 {
			s.begin(pop(&s.demoted), true)
		}
		return
	}
	for ; s.next < len(s.jobs); s.next++ {
		e := s.jobs[s.next]
		if e == nil || e.doomed != nil {
			continue
		}
		if s.outdated(e) {
			s.askOn()
			return
		}
		alone := !e.traits.Safe && !e.traits.Locked
		if !alone && s.admitting >= s.options.MaxAdmitting || !s.room.fits(e) {
			return
		}
		s.begin(e, alone)
	}
}

// begin starts a job's turn. The caller holds the mutex.
func (s *Scheduler) begin(e *entry, alone bool) {
	e.alone = alone
	s.makeDue(e)
	s.room.enter(e)
	s.admitting++
	e.ctx = s.contextOf(e, false)
	s.observe(e, Admitting)
	if s.options.Lend != nil && !s.lent && s.options.Lend(e.Job) {
		e, s.mine = s.mine, e
	}
	if e != nil {
		s.begun.push(e)
	}
}

// demote puts a job back that must run alone. The caller holds the mutex.
func (s *Scheduler) demote(e *entry) {
	e.traits.Safe, e.traits.Locked, e.traits.Locks, e.nodes = false, false, nil, nil
	e.batch = noBatch
	s.observe(e, Queued)
	switch {
	case e.ctx.Err() != nil: // it was cancelled meanwhile
		s.doom(e, context.Cause(e.ctx))
	case !s.doomIfReached(e):
		s.demoted = insert(s.demoted, e)
	}
	s.unpark()
}

// doomAll dooms every job whose turn has not come. The caller holds the mutex.
func (s *Scheduler) doomAll(cause error) {
	for _, e := range s.demoted {
		s.doom(e, cause)
	}
	s.demoted = nil
	for ; s.next < len(s.jobs); s.next++ {
		if e := s.jobs[s.next]; e != nil {
			s.doom(e, cause)
		}
	}
}

// doom ends a job that has not begun. The caller holds the mutex.
func (s *Scheduler) doom(e *entry, why error) {
	if e.doomed != nil {
		return
	}
	e.doomed = why
	s.room.locks.forget(e)
	if e != s.asked { // then it is ended when it has answered
		s.doomed = append(s.doomed, e)
		s.reapOn()
	}
}

// reapOn has a goroutine end the doomed. The caller holds the mutex.
func (s *Scheduler) reapOn() {
	if !s.reaping && len(s.doomed) > 0 {
		s.reaping = true
		s.live++
		go s.reap()
	}
}

// reap ends the doomed. Only then do results leave: a slow Yield must not keep a
// job from its failure.
func (s *Scheduler) reap() {
	// Deferred, because a job may end its goroutine.
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reaping = false
		s.reapOn()
		s.leave()
	}()
	for e := s.takeDoomed(); e != nil; e = s.takeDoomed() {
		s.end(e)
	}
}

func (s *Scheduler) takeDoomed() *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.doomed) == 0 {
		return nil
	}
	return pop(&s.doomed)
}

// end gives a doomed job its failure.
func (s *Scheduler) end(e *entry) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hold(e)
		s.observe(e, Completed)
	}()
	s.fail(e, e.doomed)
}
