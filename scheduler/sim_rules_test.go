package scheduler_test

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/scheduler"
)

// settleDown does what can be done now, until there is no more.
func (s *sim) settleDown() {
	for s.deliver() || s.grant() || s.advance() {
	}
}

func (s *sim) deliver() bool {
	if s.leaving > 0 || s.yielded == len(s.jobs) || s.jobs[s.yielded].state != scheduler.Completed {
		return false
	}
	j := &s.jobs[s.yielded]
	j.left++
	if s.discarded {
		j.dropped = true
		s.gone(j)
	} else {
		s.leaving = s.now + j.yield
	}
	return true
}

// grant gives one slot to the first job that may have it.
func (s *sim) grant() bool {
	for i := range s.jobs {
		j := &s.jobs[i]
		if !j.waiting || !s.mayHold(j) || s.count(func(o *simJob) bool { return o.state == scheduler.Executing }) >= s.slots {
			continue
		}
		if g := j.traits.Group; g != "" && s.perGroup > 0 && s.count(func(o *simJob) bool {
			return o.state == scheduler.Executing && o.traits.Group == g
		}) >= s.perGroup {
			continue
		}
		j.waiting, j.until = false, s.now+j.run
		s.enter(j, scheduler.Executing)
		return true
	}
	return false
}

func (s *sim) mayHold(j *simJob) bool {
	first := &s.jobs[s.yielded]
	return s.maxHeld <= 0 || s.held <= s.maxHeld || j == first || first.state == scheduler.Queued
}

func (s *sim) count(is func(*simJob) bool) (n int) {
	for i := range s.jobs {
		if s.jobs[i].added && is(&s.jobs[i]) {
			n++
		}
	}
	return n
}

// advance begins one turn, or ends what is not to begin.
func (s *sim) advance() bool {
	why := s.over
	if why == "" {
		why = s.cancelled
	}
	under := s.count(func(o *simJob) bool { return o.under })
	demoted := s.count(func(o *simJob) bool { return o.demoted && o.state == scheduler.Queued })
	for i := range s.jobs {
		j := &s.jobs[i]
		switch {
		case !j.added || j.state != scheduler.Queued:
			continue
		case why != "":
			s.doom(j, why)
			return true
		case demoted > 0 && !j.demoted:
			continue
		case under > 0 && !s.mayBegin(j):
			return false
		}
		s.begin(j)
		return true
	}
	return false
}

func (s *sim) mayBegin(j *simJob) bool {
	if j.exclusive || s.count(func(o *simJob) bool { return o.state == scheduler.Admitting }) >= s.admitting {
		return false
	}
	return s.count(func(o *simJob) bool { return o.under && (o.alone || !compatible(&o.traits, &j.traits)) }) == 0
}

func (s *sim) begin(j *simJob) {
	j.alone = j.exclusive || j.demoted
	for i := range s.jobs {
		o := &s.jobs[i]
		if j.alone || !j.traits.Safe && (!o.traits.Locked || conflict(o.traits.Locks, j.traits.Locks)) {
			s.apply(o, j.index)
		}
	}
	j.under, j.until = true, s.now+j.admit
	s.enter(j, scheduler.Admitting)
}

// compatible reports whether two jobs may be under way together.
func compatible(a, b *scheduler.Traits) bool {
	return a.Safe && b.Safe || a.Locked && b.Locked && !conflict(a.Locks, b.Locks)
}

// conflict reports whether a lock of a has a conflict with one of b.
func conflict(a, b []scheduler.Lock) bool {
	return slices.ContainsFunc(a, func(x scheduler.Lock) bool {
		return slices.ContainsFunc(b, func(y scheduler.Lock) bool {
			return (x.Write || y.Write) && (x.Name == y.Name ||
				strings.HasPrefix(x.Name, y.Name+"/") || strings.HasPrefix(y.Name, x.Name+"/"))
		})
	})
}
