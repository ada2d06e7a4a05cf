package scheduler_test

import (
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// sim says what a turn must come to, by the rules alone: it goes from event to
// event and asks every rule of every job. It shares no code with the scheduler.
type sim struct {
	rules
	jobs    []simJob
	now     time.Duration
	yielded int
	leaving time.Duration // when the result under way has left; 0 without one
	held    int64

	over, cancelled string // why nothing begins any more
	discarded       bool
	failure         simFailure
}

// rules are the options of a turn that a sim knows.
type rules struct {
	slots, perGroup, admitting int
	maxHeld                    int64
	cascade                    scheduler.Cascade
	plain                      bool
}

type simFailure struct {
	why   string
	batch int // alone for the rest of the turn
}

const alone = -1 // the batch of a job that runs alone

type simJob struct {
	plan
	trace
	index     int
	added     bool
	state     scheduler.State
	batch     int
	exclusive bool // when it was added
	alone     bool
	demoted   bool
	waiting   bool // admitted, without a slot
	failed    bool // Fail was called
	doomed    bool // it failed before it began
	settledBy int  // whose turn its effects were for
	held      int64
	under     bool          // under way, or something goes on behind it
	unapplied bool          // its effects are held
	until     time.Duration // the end of what it does now; 0 if it does nothing
}

func simulate(r rules, plans []plan, stops []stop) []simJob {
	s := &sim{rules: r, jobs: make([]simJob, len(plans))}
	for i, p := range plans {
		s.jobs[i] = simJob{plan: p, index: i}
	}
	s.add(0)
	stops = slices.Clone(stops)
	for {
		s.settleDown()
		next, fire := s.next(stops)
		if fire == nil {
			break
		}
		s.now = next
		fire()
	}
	return s.jobs
}

// add adds the jobs whose time is now.
func (s *sim) add(now time.Duration) {
	batch := 0
	for i := range s.jobs {
		j := &s.jobs[i]
		if j.addedAt > now {
			return
		}
		if !j.added {
			s.addOne(j, batch)
		}
		if j.exclusive {
			batch++
		}
	}
}

func (s *sim) addOne(j *simJob, batch int) {
	if j.panics == "Traits" {
		j.traits = scheduler.Traits{}
	}
	j.traits.Locked = j.traits.Locked && !s.plain
	j.exclusive = !j.traits.Safe && !j.traits.Locked
	j.added, j.batch = true, batch
	if j.exclusive {
		j.batch = alone
	}
	s.enter(j, scheduler.Queued)
	if s.reached(j) {
		s.doom(j, s.failure.why)
	}
}

// enter notes that a job has come to a state.
func (s *sim) enter(j *simJob, state scheduler.State) {
	j.state = state
	j.states = append(j.states, moment{state, s.now})
}

// next finds what happens next, and when.
func (s *sim) next(stops []stop) (at time.Duration, fire func()) {
	earlier := func(t time.Duration, f func()) {
		if t > 0 && t >= s.now && (fire == nil || t < at) {
			at, fire = t, f
		}
	}
	for i := range s.jobs {
		j := &s.jobs[i]
		if !j.added {
			earlier(j.addedAt, func() { s.add(j.addedAt) })
		}
		earlier(j.until, func() { s.elapsed(j) })
	}
	earlier(s.leaving, func() { s.left() })
	if s.yielded < len(s.jobs) {
		for i := range stops {
			earlier(stops[i].at, func() { s.stop(stops[i].kind); stops[i].at = 0 })
		}
	}
	return at, fire
}

// elapsed ends what a job does now.
func (s *sim) elapsed(j *simJob) {
	j.until = 0
	switch j.state {
	case scheduler.Admitting:
		s.admitted(j)
	case scheduler.Executing:
		j.result = "ok"
		if j.fails {
			j.result = "failed"
		}
		if j.panics == "Run" {
			j.result, j.failed = "panic in Run", true
		} else {
			j.held = j.holds
			s.held += j.held
		}
		s.ran(j, j.result != "ok")
	default:
		j.under = false
		if j.behind > scheduler.DefaultLeftoverTimeout {
			j.abandoned = append(j.abandoned, s.now)
		}
	}
}

func (s *sim) admitted(j *simJob) {
	switch {
	case j.panics == "Admit":
		s.fail(j, "panic in Admit")
		return
	case j.refuse:
		j.result = "refused"
		s.complete(j)
		return
	}
	given := j.traits
	if j.grows != nil && j.panics != "Traits" {
		j.traits.Block, j.traits.Group, j.traits.Cascade = j.grows.Block, j.grows.Group, j.grows.Cascade
	}
	grown := j.grows != nil && !j.alone && outgrows(&given, j.grows, s.plain)
	switch {
	case !grown && s.reached(j):
		s.fail(j, s.failure.why)
	case !grown:
		j.waiting = true
	default:
		reached := s.reached(j) // by the batch that it leaves
		j.under, j.demoted, j.batch = false, true, alone
		j.traits.Safe, j.traits.Locked, j.traits.Locks = false, false, nil
		s.enter(j, scheduler.Queued)
		if reached || s.reached(j) {
			s.doom(j, s.failure.why)
		}
	}
}

// outgrows reports whether a job asks for more than it was given.
func outgrows(given, now *scheduler.Traits, plain bool) bool {
	if given.Safe && !now.Safe || given.Locked && (plain || !now.Locked) {
		return true
	}
	return given.Locked && slices.ContainsFunc(now.Locks, func(l scheduler.Lock) bool {
		return !slices.ContainsFunc(given.Locks, func(g scheduler.Lock) bool {
			return (g.Write || !l.Write) && (g.Name == l.Name || strings.HasPrefix(l.Name, g.Name+"/"))
		})
	})
}

func (s *sim) ran(j *simJob, spreads bool) {
	if spreads && j.traits.Cascade {
		s.spread(j)
	}
	s.complete(j)
}
