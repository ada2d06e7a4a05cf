package scheduler_test

import (
	"fmt"

	"github.com/toolquay/toolquay/scheduler"
)

// fail gives a job a failure that the scheduler calls Fail with.
func (s *sim) fail(j *simJob, why string) {
	j.result, j.failed = why, true
	s.complete(j)
}

// doom fails a job that has not begun.
func (s *sim) doom(j *simJob, why string) {
	j.result, j.failed, j.doomed = why, true, true
	s.enter(j, scheduler.Completed)
}

func (s *sim) complete(j *simJob) {
	ran := j.state == scheduler.Executing
	j.waiting, j.until = false, 0
	if j.alone || !j.traits.Safe {
		j.settled = append(j.settled, s.now)
		if j.panics == "Settle" && !j.failed {
			j.result, j.failed = "panic in Settle", true
		}
	} else {
		j.unapplied = true
	}
	s.enter(j, scheduler.Completed)
	j.under = false
	if ran && j.behind > 0 && j.panics != "Run" {
		j.under, j.until = true, s.now+min(j.behind, scheduler.DefaultLeftoverTimeout)
	}
}

// reached reports whether the failure of another cancels a job.
func (s *sim) reached(j *simJob) bool {
	return s.failure.why != "" && j.traits.Cascade && (s.failure.batch == alone || s.failure.batch == j.batch)
}

// spread cancels the siblings of a job that failed.
func (s *sim) spread(failed *simJob) {
	if s.cascade == scheduler.CascadeOff || s.cascade == scheduler.CascadeBatch && failed.batch == alone {
		return
	}
	s.failure = simFailure{fmt.Sprintf("cascade of %d", failed.index), failed.batch}
	if s.cascade == scheduler.CascadeTurn {
		s.failure.batch = alone
	}
	for i := range s.jobs {
		j := &s.jobs[i]
		switch {
		case j == failed || !s.reached(j):
		case j.state == scheduler.Queued && j.added:
			s.doom(j, s.failure.why)
		default:
			s.end(j, s.failure.why)
		}
	}
}

// end ends a job that is under way.
func (s *sim) end(j *simJob, why string) {
	switch {
	case !j.added:
	case j.state == scheduler.Admitting:
		s.fail(j, why)
	case j.state == scheduler.Executing:
		j.result = why
		s.ran(j, false)
	}
}

func (s *sim) stop(kind string) {
	if kind != cancelled && s.over == "" {
		s.over = kind
	}
	if kind == cancelled && s.cancelled == "" {
		s.cancelled = cancelled
	}
	s.discarded = s.discarded || kind == discarded
	for i := range s.jobs {
		j := &s.jobs[i]
		if kind == interrupted && j.state == scheduler.Executing && j.traits.Block {
			continue
		}
		s.end(j, kind)
	}
}

func (s *sim) left() {
	j := &s.jobs[s.yielded]
	s.leaving = 0
	s.enter(j, scheduler.Yielded)
	s.gone(j)
}

func (s *sim) gone(j *simJob) {
	s.held -= j.held
	s.yielded++
	if s.yielded < len(s.jobs) {
		return
	}
	for i := range s.jobs { // the turn is over
		s.apply(&s.jobs[i], len(s.jobs))
	}
}

// apply applies the effects of a job, because of another.
func (s *sim) apply(j *simJob, by int) {
	if j.unapplied {
		j.unapplied, j.settledBy = false, by
		j.settled = append(j.settled, s.now)
	}
}
