package scheduler_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// plan is what a test job does.
type plan struct {
	safe    bool
	demote  bool // it is not safe after in Admit
	refuse  bool // Admit ends the job
	panics  string
	admit   time.Duration
	run     time.Duration
	yield   time.Duration
	addedAt time.Duration
}

// trace is what was seen of one job, in virtual time since the start.
type trace struct {
	turn, ready, start, end  []time.Duration
	settled, yielded, failed int
	err                      error
	settledAt                time.Duration
}

// turn is one run of a scheduler over planned jobs.
type turn struct {
	t       *testing.T
	began   time.Time
	max     int
	mu      sync.Mutex
	traces  []trace
	running int
	settles []int
	yields  []int
}

type job struct {
	plan
	turn  *turn
	index int
}

func (j *job) at() time.Duration { return time.Since(j.turn.began) }

func (j *job) note(f func(*trace)) {
	j.turn.mu.Lock()
	defer j.turn.mu.Unlock()
	f(&j.turn.traces[j.index])
}

func (j *job) panicIn(method string) {
	if j.panics == method {
		panic(fmt.Errorf("job %d: %w", j.index, errPlanned))
	}
}

var errPlanned = errors.New("planned")

func (j *job) Traits() scheduler.Traits {
	j.panicIn("Traits")
	return scheduler.Traits{Safe: j.safe}
}

func (j *job) Admit(ctx context.Context) bool {
	j.note(func(t *trace) { t.turn = append(t.turn, j.at()) })
	wait(ctx, j.admit)
	j.note(func(t *trace) { t.ready = append(t.ready, j.at()) })
	if j.demote {
		j.safe = false
	}
	j.panicIn("Admit")
	return !j.refuse
}

func (j *job) Run(ctx context.Context, _ *scheduler.Slot) (o scheduler.Outcome) {
	j.turn.mu.Lock()
	j.turn.running++
	if j.turn.running > j.turn.max {
		j.turn.t.Errorf("%d jobs run at once, at most %d may", j.turn.running, j.turn.max)
	}
	j.turn.mu.Unlock()
	j.note(func(t *trace) { t.start = append(t.start, j.at()) })
	defer func() {
		j.turn.mu.Lock()
		j.turn.running--
		j.turn.mu.Unlock()
		j.note(func(t *trace) { t.end = append(t.end, j.at()) })
	}()
	wait(ctx, j.run)
	j.panicIn("Run")
	return o
}

func (j *job) Fail(err error) {
	j.note(func(t *trace) { t.failed++; t.err = err })
	j.panicIn("Fail")
}

func (j *job) Settle() {
	j.note(func(t *trace) { t.settled++; t.settledAt = j.at() })
	j.turn.mu.Lock()
	j.turn.settles = append(j.turn.settles, j.index)
	j.turn.mu.Unlock()
	j.panicIn("Settle")
}

func (j *job) Yield() {
	j.note(func(t *trace) { t.yielded++ })
	j.turn.mu.Lock()
	j.turn.yields = append(j.turn.yields, j.index)
	j.turn.mu.Unlock()
	time.Sleep(j.yield)
	j.panicIn("Yield")
}

func (j *job) Drop() { j.turn.t.Errorf("job %d was dropped", j.index) }

func wait(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// play runs the plans and returns what was seen. It adds each job at its time.
func play(t *testing.T, ctx context.Context, o scheduler.Options, plans []plan) *turn {
	t.Helper()
	o.MaxConcurrent = max(o.MaxConcurrent, 1)
	tn := &turn{t: t, began: time.Now(), max: o.MaxConcurrent, traces: make([]trace, len(plans))}
	s := scheduler.New(ctx, o)
	for i, p := range plans {
		if d := p.addedAt - time.Since(tn.began); d > 0 {
			time.Sleep(d)
		}
		if err := s.Add(&job{plan: p, turn: tn, index: i}); err != nil {
			t.Fatal(err)
		}
	}
	s.Wait()
	return tn
}

// checkOnce checks what must hold for every turn: every job settled and yielded
// once, in order, run at most once, and never after it failed.
func (tn *turn) checkOnce(plans []plan) {
	tn.t.Helper()
	if !slices.IsSorted(tn.yields) || len(tn.yields) != len(plans) {
		tn.t.Errorf("yields %v", tn.yields)
	}
	for i, tr := range tn.traces {
		switch {
		case tr.settled != 1 || tr.yielded != 1:
			tn.t.Errorf("job %d settled %d times, yielded %d times", i, tr.settled, tr.yielded)
		case len(tr.start) > 1 || tr.failed > 1:
			tn.t.Errorf("job %d ran %d times, failed %d times", i, len(tr.start), tr.failed)
		case len(tr.start) == 1 && plans[i].refuse:
			tn.t.Errorf("job %d ran though it was not admitted", i)
		case len(tr.start) == 0 && tr.failed == 0 && !plans[i].refuse:
			tn.t.Errorf("job %d neither ran nor failed", i)
		}
	}
}

// model computes when each job's turn comes and when it runs, for jobs that are
// all there from the start: batches one after the other, within one a sliding
// window that takes the first in call order of those that are admitted.
func model(plans []plan, slots int) []trace {
	safe := make([]bool, len(plans))
	for i, p := range plans {
		safe[i] = p.safe && p.panics != "Traits"
	}
	traces := make([]trace, len(plans))
	var now time.Duration
	for _, batch := range scheduler.Partition(safe) {
		free := slices.Repeat([]time.Duration{now}, slots)
		end := now
		var queue []int // admitted, in call order
		for _, i := range batch {
			ready := now + plans[i].admit
			traces[i].turn = []time.Duration{now}
			traces[i].ready = []time.Duration{ready}
			end = max(end, ready)
			if !plans[i].refuse && plans[i].panics != "Admit" {
				queue = append(queue, i)
			}
		}
		for len(queue) > 0 {
			slices.Sort(free)
			first := slices.MinFunc(queue, func(a, b int) int { return cmp.Compare(plans[a].admit, plans[b].admit) })
			start := max(free[0], traces[first].ready[0])
			at := slices.IndexFunc(queue, func(i int) bool { return traces[i].ready[0] <= start })
			i := queue[at]
			queue = slices.Delete(queue, at, at+1)
			free[0] = start + plans[i].run
			end = max(end, free[0])
			traces[i].start = []time.Duration{start}
			traces[i].end = []time.Duration{free[0]}
		}
		now = end
	}
	return traces
}

// randomPlans have durations that no sums of others equal, so that no two
// things happen at the same moment.
func randomPlans(r *rand.Rand, n int) []plan {
	plans := make([]plan, n)
	for i := range plans {
		plans[i] = plan{
			safe:   r.IntN(5) > 0,
			refuse: r.IntN(8) == 0,
			admit:  time.Duration(r.Int64N(int64(time.Second))) + 1,
			run:    time.Duration(r.Int64N(int64(3*time.Second))) + 1,
			yield:  time.Duration(r.Int64N(int64(time.Second))),
		}
		if r.IntN(8) == 0 {
			plans[i].panics = []string{"Traits", "Admit", "Run", "Settle", "Yield"}[r.IntN(5)]
		}
	}
	return plans
}

func TestModel(t *testing.T) {
	t.Parallel()
	testModel(t, scheduler.Options{})
}

// TestModelLent lets jobs run on the goroutine that waits: nothing may happen
// at another time for it.
func TestModelLent(t *testing.T) {
	t.Parallel()
	testModel(t, scheduler.Options{Lend: func(j scheduler.Job) bool {
		planned, ok := j.(*job)
		return ok && planned.index%5 != 3
	}})
}

func testModel(t *testing.T, o scheduler.Options) {
	t.Helper()
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			plans := randomPlans(r, r.IntN(40))
			slots := 1 + r.IntN(6)
			o := o
			o.MaxConcurrent = slots
			tn := play(t, t.Context(), o, plans)
			tn.checkOnce(plans)
			for i, want := range model(plans, slots) {
				got := tn.traces[i]
				if !slices.Equal(got.turn, want.turn) || !slices.Equal(got.start, want.start) || !slices.Equal(got.end, want.end) {
					t.Fatalf("seed %d, job %d of %+v:\n turn %v start %v end %v\nwant %v %v %v", seed, i, plans,
						got.turn, got.start, got.end, want.turn, want.start, want.end)
				}
			}
			if !slices.IsSorted(tn.settles) {
				t.Errorf("settled in the order %v", tn.settles)
			}
		})
	}
}

// span is the time a job was under way, from its last turn on.
func (tr *trace) span() (from, to time.Duration) {
	from = tr.turn[len(tr.turn)-1]
	to = tr.ready[len(tr.ready)-1]
	if len(tr.end) > 0 {
		to = tr.end[0]
	}
	return from, to
}

// TestStreaming adds jobs over time, some of which become unsafe, and checks
// the laws that hold whatever the timing.
func TestStreaming(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 8))
			plans := randomPlans(r, 1+r.IntN(30))
			var at time.Duration
			for i := range plans {
				at += time.Duration(r.Int64N(int64(800 * time.Millisecond)))
				plans[i].addedAt = at
				plans[i].demote = r.IntN(6) == 0
			}
			o := scheduler.Options{MaxConcurrent: 1 + r.IntN(4), MaxAdmitting: 1 + r.IntN(8)}
			tn := play(t, t.Context(), o, plans)
			tn.checkOnce(plans)
			tn.checkAlone(plans)
		})
	}
}

// checkAlone checks that a job that runs alone overlaps with no other, that
// none that comes later has its turn before it has ended, and that all whose
// turn came before are settled when its own comes.
func (tn *turn) checkAlone(plans []plan) {
	tn.t.Helper()
	for i, p := range plans {
		tr := &tn.traces[i]
		if p.safe && p.panics != "Traits" && len(tr.turn) < 2 {
			continue
		}
		from, to := tr.span()
		for k := range plans {
			if k == i {
				continue
			}
			other := &tn.traces[k]
			oFrom, oTo := other.span()
			if oFrom < to && from < oTo {
				tn.t.Errorf("job %d (%v-%v) runs alone, beside job %d (%v-%v)", i, from, to, k, oFrom, oTo)
			}
			if k > i && oFrom < to && other.turn[0] > tr.turn[0]+p.admit {
				tn.t.Errorf("job %d overtook job %d", k, i)
			}
			if oTo <= from && other.settledAt > from {
				tn.t.Errorf("job %d, which ended at %v, is settled at %v, after the turn of job %d at %v", k, oTo, other.settledAt, i, from)
			}
		}
	}
}

func TestCancelModel(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user left")
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 9))
			plans := randomPlans(r, r.IntN(30))
			for i := range plans {
				plans[i].demote = r.IntN(6) == 0
				plans[i].yield = 0
				plans[i].addedAt = time.Duration(i) * 100 * time.Millisecond
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			end := time.Duration(r.Int64N(int64(5 * time.Second)))
			stop := time.AfterFunc(end, func() { cancel(cause) })
			defer stop.Stop()
			tn := play(t, ctx, scheduler.Options{MaxConcurrent: 3}, plans)
			tn.checkCancelled(plans, end, cause)
			cancel(nil)
		})
	}
}

// checkCancelled checks a turn that was cancelled at end.
func (tn *turn) checkCancelled(plans []plan, end time.Duration, cause error) {
	tn.t.Helper()
	if !slices.IsSorted(tn.yields) || len(tn.yields) != len(plans) {
		tn.t.Errorf("yields %v", tn.yields)
	}
	for i, tr := range tn.traces {
		if tr.settled != 1 || tr.yielded != 1 || len(tr.start) > 1 || tr.failed > 1 {
			tn.t.Errorf("job %d: %+v", i, tr)
		}
		if len(tr.turn) > 0 && tr.turn[len(tr.turn)-1] > end || len(tr.start) > 0 && tr.start[0] > end {
			tn.t.Errorf("job %d had its turn at %v and ran at %v, after the end at %v", i, tr.turn, tr.start, end)
		}
		if len(tr.start) == 0 && tr.failed == 0 && !plans[i].refuse {
			tn.t.Errorf("job %d has no result", i)
		}
		if len(tr.turn) == 0 && !errors.Is(tr.err, cause) {
			tn.t.Errorf("job %d failed with %v", i, tr.err)
		}
	}
}
