package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// plan is what a test job does.
type plan struct {
	traits  scheduler.Traits
	grows   *scheduler.Traits // what Admit makes of them
	refuse  bool              // Admit ends the job
	fails   bool              // Run does
	panics  string            // the method that panics
	admit   time.Duration
	run     time.Duration
	yield   time.Duration
	behind  time.Duration // how long something goes on behind the result
	holds   int64         // the size of the result
	addedAt time.Duration
}

// stop is how a turn ends early.
type stop struct {
	kind string
	at   time.Duration
}

// The kinds, which are what the failures of jobs say too.
const (
	interrupted = "interrupted"
	discarded   = "discarded"
	cancelled   = "cancelled"
)

// moment is when a job came to a state, in virtual time since the start.
type moment struct {
	state scheduler.State
	at    time.Duration
}

func (m moment) String() string { return fmt.Sprintf("%v@%v", m.state, m.at) }

// trace is what was seen of one job.
type trace struct {
	states    []moment
	result    string
	failures  int // calls of Fail
	settled   []time.Duration
	left      int // calls of Yield and Drop
	dropped   bool
	abandoned []time.Duration
}

// job is a job with a plan.
type job struct {
	plan
	turn  *turn
	index int
}

// planned is the test job that the scheduler was given.
func planned(j scheduler.Job) *job {
	p, ok := j.(*job)
	if !ok {
		panic(fmt.Sprintf("%T is no job of this test", j))
	}
	return p
}

func (j *job) note(f func(*trace)) {
	j.turn.mu.Lock()
	defer j.turn.mu.Unlock()
	f(&j.turn.traces[j.index])
}

var errPlanned = errors.New("planned")

func (j *job) panicIn(method string) {
	if j.panics == method {
		panic(fmt.Errorf("job %d: %w", j.index, errPlanned))
	}
}

func (j *job) Traits() scheduler.Traits {
	j.panicIn("Traits")
	return j.traits
}

func (j *job) Admit(ctx context.Context) bool {
	if !wait(ctx, j.admit) {
		return true
	}
	j.panicIn("Admit")
	if j.refuse {
		j.note(func(tr *trace) { tr.result = "refused" })
		return false
	}
	if j.grows != nil {
		j.traits = *j.grows
	}
	return true
}

func (j *job) Run(ctx context.Context, _ *scheduler.Slot) scheduler.Outcome {
	j.turn.start(j)
	defer j.turn.release()
	o := scheduler.Outcome{Failed: j.fails, Held: j.holds}
	if j.behind > 0 && j.panics != "Run" {
		ended := make(chan struct{})
		o.Leftovers = ended
		defer time.AfterFunc(j.behind, func() { close(ended) })
		defer time.AfterFunc(min(j.behind, scheduler.DefaultLeftoverTimeout)-1, func() { j.turn.end(j) })
	} else {
		defer j.turn.end(j)
	}
	result := "ok"
	if j.fails {
		result = "failed"
	}
	if !wait(ctx, j.run) {
		// It holds nothing: several that end at one moment do so in any order.
		result, o.Failed, o.Held = label(context.Cause(ctx)), true, 0
	} else {
		j.panicIn("Run")
	}
	j.note(func(tr *trace) { tr.result = result })
	return o
}

func (j *job) Fail(err error) {
	j.note(func(tr *trace) { tr.failures++; tr.result = label(err) })
	j.panicIn("Fail")
}

func (j *job) Settle() {
	j.note(func(tr *trace) {
		tr.settled = append(tr.settled, j.turn.at())
		j.turn.settles = append(j.turn.settles, j.index)
	})
	j.panicIn("Settle")
}

func (j *job) Yield() {
	j.note(func(tr *trace) { tr.left++; j.turn.left = append(j.turn.left, j.index) })
	time.Sleep(j.yield)
	j.panicIn("Yield")
}

func (j *job) Drop() {
	j.note(func(tr *trace) { tr.left++; tr.dropped = true; j.turn.left = append(j.turn.left, j.index) })
	j.panicIn("Yield")
}

// label is a failure in a word.
func label(err error) string {
	if c, ok := errors.AsType[*scheduler.CascadeError](err); ok {
		return fmt.Sprintf("cascade of %d", planned(c.Failed).index)
	}
	if p, ok := errors.AsType[*scheduler.PanicError](err); ok {
		return "panic in " + p.Method
	}
	return err.Error()
}

// wait reports whether the time went by before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// start checks that a job may run beside all that do.
func (tn *turn) start(j *job) {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	tn.slots++
	if tn.slots > tn.rules.slots {
		tn.t.Errorf("%d jobs run at once, at most %d may", tn.slots, tn.rules.slots)
	}
	for _, other := range tn.running {
		a, b := j.traits, other.traits
		if tn.rules.plain {
			a.Locked, b.Locked = false, false
		}
		if !compatible(&a, &b) {
			tn.t.Errorf("job %d runs beside job %d: %+v, %+v", j.index, other.index, a, b)
		}
	}
	if len(tn.running) > 0 {
		tn.overlap++
	}
	tn.running = append(tn.running, j)
}

// release is when a job has its result.
func (tn *turn) release() {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	tn.slots--
}

// end is when nothing of a job goes on any more.
func (tn *turn) end(j *job) {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	tn.running = slices.DeleteFunc(tn.running, func(other *job) bool { return other == j })
}
