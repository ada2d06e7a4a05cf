package scheduler

import "slices"

// effects are the safe jobs that are complete and not settled.
type effects struct {
	// open are those that may have touched anything, and locked those that claim
	// what they locked; of these some are settled, and claims counts those that
	// are not.
	open, locked []*entry
	claims       int
	// due are those whose effects a job that has begun its turn must see, in the
	// order in which they are applied, and applying says that others are just now.
	due      []*entry
	applying bool
}

// spareEffects is how many jobs that are settled may stay in a list.
const spareEffects = 16

// hold keeps the effects of a complete job until they are due. The caller holds
// the mutex.
func (s *Scheduler) hold(e *entry) {
	f := &s.effects
	if e.nodes == nil {
		f.open = append(f.open, e)
		return
	}
	s.room.locks.claim(e)
	f.claims++
	if len(f.locked) > 2*f.claims+spareEffects { // let the settled ones go
		f.locked = slices.DeleteFunc(f.locked, func(e *entry) bool { return !e.claims })
	}
	f.locked = append(f.locked, e)
}

// takeAll returns all whose effects are held, in call order. The caller holds the
// mutex.
func (s *Scheduler) takeAll() []*entry {
	f := &s.effects
	due := f.open
	for _, e := range f.locked {
		if e.claims {
			s.room.locks.release(e)
			due = append(due, e)
		}
	}
	f.open, f.locked, f.claims = nil, nil, 0
	slices.SortFunc(due, byIndex)
	return due
}

// takeDue returns, in call order, those whose effects a job that runs beside
// others must see. The caller holds the mutex.
func (s *Scheduler) takeDue(e *entry) []*entry {
	f := &s.effects
	due := f.open
	f.open = nil
	if f.claims > 0 {
		found := s.room.locks.claimed(e)
		f.claims -= len(found)
		due = append(due, found...)
	}
	slices.SortFunc(due, byIndex)
	return due
}

// makeDue notes which effects a job must see that begins its turn: here, since who
// begins at the same moment must not make a difference to their order. Those of a
// safe job are never among what another must see while it is still under way, so
// that nothing depends on who is quicker. The caller holds the mutex.
func (s *Scheduler) makeDue(e *entry) {
	f := &s.effects
	switch {
	case e.alone:
		f.due = append(f.due, s.takeAll()...)
	case !e.traits.Safe:
		f.due = append(f.due, s.takeDue(e)...)
	}
	e.settles = f.applying || len(f.due) > 0
}

// settleBefore applies the effects that were due when a job began its turn, or waits
// for who does.
func (s *Scheduler) settleBefore(e *entry) {
	if !e.settles {
		return
	}
	s.settling.Lock()
	defer s.settling.Unlock()
	s.mu.Lock()
	due := s.effects.due
	s.effects.due, s.effects.applying = nil, true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.effects.applying = false
	}()
	s.settle(due)
}

// settleNow applies the effects of a job that is not safe, before it lets go of
// what it locked.
func (s *Scheduler) settleNow(e *entry) {
	s.settling.Lock()
	defer s.settling.Unlock()
	p := guard("Settle", e.Settle)
	if p != nil && !e.failed {
		s.fail(e, p) // its result has not left
		return
	}
	s.report(e, p)
}

// settleRest applies what is left in the end.
func (s *Scheduler) settleRest() {
	s.settling.Lock()
	defer s.settling.Unlock()
	s.mu.Lock()
	rest := s.takeAll()
	s.mu.Unlock()
	s.settle(rest)
}

// settle applies the effects of jobs whose results may have left already. The
// caller holds the settling mutex.
func (s *Scheduler) settle(due []*entry) {
	// Deferred, because a job may end its goroutine.
	defer func() {
		if len(due) > 0 {
			s.settle(due)
		}
	}()
	for len(due) > 0 {
		e := due[0]
		due = due[1:]
		s.report(e, guard("Settle", e.Settle))
	}
}
