package scheduler_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// Turns are played in virtual time, and everything that is seen of them is
// compared with what the rules say (sim_test.go). Durations are such that no two
// things happen at the same moment unless one leads to the other.

// checked is what a played turn is checked for beside the sim.
func checked(t *testing.T, r rules, o scheduler.Options, plans []plan, stops []stop) *turn {
	t.Helper()
	tn := play(t, r, o, plans, stops)
	if !slices.IsSorted(tn.left) || len(tn.left) != len(plans) {
		t.Errorf("results left in the order %v", tn.left)
	}
	want := simulate(r, plans, stops)
	for i := range want {
		tn.compare(i, &want[i])
	}
	tn.checkSettles(want)
	return tn
}

// compare compares what was seen of a job with what the rules say.
func (tn *turn) compare(i int, want *simJob) {
	tn.t.Helper()
	got := &tn.traces[i]
	if len(got.settled) != 1 || got.left != 1 || got.failures > 1 || got.result == "" {
		tn.t.Errorf("job %d: settled at %v, left %d times, failed %d times, result %q", i, got.settled, got.left, got.failures, got.result)
	}
	if want.doomed { // it has no effects, so that nobody need wait for them
		want.settled = got.settled
	}
	if (got.failures == 1) != want.failed {
		tn.t.Errorf("job %d: Fail was called %d times, with %q", i, got.failures, got.result)
	}
	got.failures = 0
	if !reflect.DeepEqual(*got, want.trace) {
		tn.t.Errorf("job %d:\n got %+v\nwant %+v", i, *got, want.trace)
	}
}

// checkSettles checks that the effects which a job's turn waited for were applied
// in call order. A job that was demoted has two turns.
func (tn *turn) checkSettles(want []simJob) {
	tn.t.Helper()
	type turnOf struct {
		job int
		at  time.Duration
	}
	last := make(map[turnOf]int)
	for _, i := range tn.settles {
		j := &want[i]
		if j.doomed || j.alone || !j.traits.Safe {
			continue
		}
		by := turnOf{j.settledBy, j.settled[0]}
		if before, ok := last[by]; ok && before > i {
			tn.t.Errorf("job %d settled after job %d: %v", i, before, tn.settles)
		}
		last[by] = i
	}
}

// turn is one run of a scheduler over planned jobs.
type turn struct {
	t     *testing.T
	rules rules
	began time.Time

	mu      sync.Mutex
	traces  []trace
	running []*job // with what goes on behind results
	slots   int    // taken
	settles []int
	left    []int
	overlap int // how many ran beside others
}

// play runs the plans and returns what was seen.
func play(t *testing.T, r rules, o scheduler.Options, plans []plan, stops []stop) *turn {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	tn := &turn{t: t, rules: r, began: time.Now(), traces: make([]trace, len(plans))}
	s := scheduler.New(ctx, tn.options(o))
	var timers []*time.Timer
	for _, stop := range stops {
		timers = append(timers, time.AfterFunc(stop.at, func() {
			switch stop.kind {
			case interrupted:
				s.Interrupt(errors.New(interrupted))
			case discarded:
				s.Discard(errors.New(discarded))
			default:
				cancel(errors.New(cancelled))
			}
		}))
	}
	for i, p := range plans {
		if d := p.addedAt - time.Since(tn.began); d > 0 {
			time.Sleep(d)
		}
		if err := s.Add(&job{plan: p, turn: tn, index: i}); err != nil {
			t.Fatal(err)
		}
	}
	s.Wait()
	for _, timer := range timers {
		timer.Stop()
	}
	s.Drain()
	return tn
}

// options are the rules as options, with what observes the turn.
func (tn *turn) options(o scheduler.Options) scheduler.Options {
	r := &tn.rules
	o.Pool = scheduler.NewPool(scheduler.PoolOptions{Max: r.slots, MaxPerGroup: r.perGroup})
	o.MaxAdmitting, o.MaxHeld, o.Cascade, o.Plain = r.admitting, r.maxHeld, r.cascade, r.plain
	o.Observe = func(j scheduler.Job, state scheduler.State) {
		planned(j).note(func(tr *trace) { tr.states = append(tr.states, moment{state, tn.at()}) })
	}
	o.Leftovers.Abandoned = func(j scheduler.Job) {
		planned(j).note(func(tr *trace) { tr.abandoned = append(tr.abandoned, tn.at()) })
	}
	return o
}

func (tn *turn) at() time.Duration { return time.Since(tn.began) }

// when is when a job last came to a state, if it did.
func (tr *trace) when(state scheduler.State) (time.Duration, bool) {
	for _, m := range slices.Backward(tr.states) {
		if m.state == state {
			return m.at, true
		}
	}
	return 0, false
}

// A turn with random everything comes to what the rules say.
func TestModel(t *testing.T) {
	t.Parallel()
	var seen coverage
	for seed := range uint64(turns) {
		synctest.Test(t, func(t *testing.T) {
			g := newGenerator(seed)
			r, plans, stops := g.turn()
			seen.add(checked(t, r, scheduler.Options{}, plans, stops))
			if t.Failed() {
				t.Fatalf("seed %d: %+v, stops %+v, plans %+v", seed, r, stops, plans)
			}
		})
	}
	seen.check(t)
}

// Jobs that run on the goroutine that waits do so at the same times.
func TestModelLent(t *testing.T) {
	t.Parallel()
	lend := func(j scheduler.Job) bool { return planned(j).index%5 != 3 }
	for seed := range uint64(turns / 5) {
		synctest.Test(t, func(t *testing.T) {
			g := newGenerator(seed)
			r, plans, stops := g.turn()
			for i := range plans { // such turns know all their jobs beforehand
				plans[i].addedAt = 0
			}
			checked(t, r, scheduler.Options{Lend: lend}, plans, stops)
			if t.Failed() {
				t.Fatalf("seed %d: %+v, stops %+v, plans %+v", seed, r, stops, plans)
			}
		})
	}
}

// Without locks a turn is the partition into batches: those of one have their turn
// at the same moment, when all before them have ended.
func TestModelPlain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(turns / 5) {
		synctest.Test(t, func(t *testing.T) {
			g := newGenerator(seed)
			r, plans, _ := g.turn()
			r.plain, r.admitting, r.maxHeld, r.cascade = true, 64, 0, scheduler.CascadeOff
			safe := make([]bool, len(plans))
			for i := range plans {
				plans[i].addedAt, plans[i].grows, plans[i].behind = 0, nil, 0
				safe[i] = plans[i].traits.Safe && plans[i].panics != "Traits"
			}
			tn := checked(t, r, scheduler.Options{}, plans, nil)
			var end time.Duration
			for _, batch := range scheduler.Partition(safe) {
				last := end
				for _, i := range batch {
					turn, _ := tn.traces[i].when(scheduler.Admitting)
					if turn != end {
						t.Errorf("seed %d: job %d of batch %v has its turn at %v, want %v", seed, i, batch, turn, end)
					}
					over, _ := tn.traces[i].when(scheduler.Completed)
					last = max(last, over)
				}
				end = last
			}
		})
	}
}
