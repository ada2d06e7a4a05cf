package scheduler

import "slices"

// noBatch is the batch of a job that runs alone, which is one of its own.
const noBatch = 0

// failure is what the failure of a job cancels.
type failure struct {
	batch int // noBatch for the rest of the turn
	err   *CascadeError
}

// reaches reports whether a job, which has not begun, is cancelled.
func (f *failure) reaches(e *entry) bool {
	return f.err != nil && e.traits.Cascade && (f.batch == noBatch || f.batch == e.batch)
}

// cascade cancels the siblings of a job that failed. The caller holds the mutex.
func (s *Scheduler) cascade(e *entry) {
	turn := s.options.Cascade == CascadeTurn
	if s.options.Cascade == CascadeOff || e.batch == noBatch && !turn {
		return
	}
	f := failure{batch: e.batch, err: &CascadeError{Failed: e.Job}}
	if turn {
		f.batch = noBatch
	}
	if s.failure.err != nil && s.failure.batch == f.batch {
		return // the first one did it
	}
	s.failure = f
	if e.batch != noBatch {
		s.siblings.end(f.err)
	}
	s.demoted = slices.DeleteFunc(s.demoted, func(e *entry) bool { return s.doomIfReached(e) })
	for _, e := range s.jobs[s.next:] {
		if e == nil {
			continue // it was doomed before, and has left
		}
		if f.batch != noBatch && e.batch != f.batch {
			break
		}
		s.doomIfReached(e)
	}
}

// doomIfReached ends a job that has not begun, if a failure cancels it, and
// reports whether one does. The caller holds the mutex.
func (s *Scheduler) doomIfReached(e *entry) bool {
	if !s.failure.reaches(e) {
		return false
	}
	s.doom(e, s.failure.err)
	return true
}
