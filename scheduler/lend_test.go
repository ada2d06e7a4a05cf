package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// nest runs jobs of a job on the same pool, so deep.
func nest(t *testing.T, pool *scheduler.Pool, depth int, ran *atomic.Int32) *funcJob {
	t.Helper()
	return &funcJob{do: func(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
		ran.Add(1)
		if depth == 0 {
			return scheduler.Outcome{}
		}
		ok := slot.Lend(ctx, func() {
			s := scheduler.New(ctx, scheduler.Options{Pool: pool})
			for range 3 {
				if err := s.Add(nest(t, pool, depth-1, ran)); err != nil {
					t.Error(err)
				}
			}
			s.Wait()
		})
		if !ok {
			t.Error("the slot did not come back")
		}
		return scheduler.Outcome{}
	}}
}

// Jobs of jobs of jobs on a pool of one slot: nobody waits for itself.
func TestLendNested(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := scheduler.NewPool(scheduler.PoolOptions{Max: 1, MaxPerGroup: 1})
		var ran atomic.Int32
		s := scheduler.New(t.Context(), scheduler.Options{Pool: pool})
		for range 4 {
			add(t, s, nest(t, pool, 3, &ran))
		}
		s.Wait()
		if n := ran.Load(); n != 4*(1+3+9+27) {
			t.Errorf("%d jobs ran", n)
		}
	})
}

// Who lent a slot gets the next one, before those that never had one.
func TestLendComesBackFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		s := scheduler.New(t.Context(), scheduler.Options{MaxConcurrent: 1})
		add(t, s, &funcJob{do: func(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
			if !slot.Lend(ctx, func() { time.Sleep(time.Second) }) {
				t.Error("the slot did not come back")
			}
			got = append(got, "lender")
			return scheduler.Outcome{}
		}})
		synctest.Wait()
		for _, name := range []string{"second", "third"} {
			add(t, s, &funcJob{run: func(context.Context) { got = append(got, name); time.Sleep(2 * time.Second) }})
			synctest.Wait()
		}
		s.Wait()
		if want := []string{"second", "lender", "third"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// lender runs a function in a job on a pool of one slot, which another job takes for
// a minute as soon as it is free.
func lender(t *testing.T, do func(context.Context, *scheduler.Slot)) *scheduler.Scheduler {
	t.Helper()
	s := scheduler.New(t.Context(), scheduler.Options{MaxConcurrent: 1})
	add(t, s, &funcJob{do: func(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
		time.Sleep(time.Second)
		do(ctx, slot)
		return scheduler.Outcome{}
	}})
	synctest.Wait()
	add(t, s, &funcJob{run: func(context.Context) { time.Sleep(time.Minute) }})
	return s
}

func TestLendEnds(t *testing.T) {
	t.Parallel()
	second := func() { time.Sleep(time.Second) }
	for name, do := range map[string]func(*testing.T, context.Context, *scheduler.Slot){
		"with its context": func(t *testing.T, ctx context.Context, slot *scheduler.Slot) {
			t.Helper()
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			began := time.Now()
			if slot.Lend(ctx, second) || time.Since(began) != 5*time.Second {
				t.Errorf("lent for %v", time.Since(began))
			}
		},
		"with its job": func(t *testing.T, ctx context.Context, slot *scheduler.Slot) {
			t.Helper()
			go func() {
				if slot.Lend(ctx, second) {
					t.Error("a job that has ended has its slot")
				}
			}()
			time.Sleep(time.Millisecond)
		},
		"by a panic": func(t *testing.T, ctx context.Context, slot *scheduler.Slot) {
			t.Helper()
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			slot.Lend(ctx, func() { panic("lent") })
		},
		"for one of two": func(t *testing.T, ctx context.Context, slot *scheduler.Slot) {
			t.Helper()
			short, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			other := make(chan bool)
			go func() { other <- slot.Lend(ctx, second) }()
			time.Sleep(2 * time.Second) // the other waits by now
			if slot.Lend(short, func() {}) {
				t.Error("there was a slot in 5 s")
			}
			if !<-other {
				t.Error("the end of one context was that of another")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := lender(t, func(ctx context.Context, slot *scheduler.Slot) { do(t, ctx, slot) })
				s.Wait()
			})
		})
	}
}

// The slot is away from the first to the last of several that lend it.
func TestLendTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := lender(t, func(ctx context.Context, slot *scheduler.Slot) {
			began := time.Now()
			done := make(chan time.Duration, 1)
			go func() {
				slot.Lend(ctx, func() { time.Sleep(time.Second) })
				done <- time.Since(began)
			}()
			ok := slot.Lend(ctx, func() { time.Sleep(3 * time.Second) })
			if first := <-done; first != time.Second {
				t.Errorf("one waited until %v though another still lent", first)
			}
			if !ok || time.Since(began) != time.Minute {
				t.Errorf("the last had the slot after %v", time.Since(began))
			}
		})
		s.Wait()
	})
}

// A slot that is of no pool is there always.
func TestLendOfNoPool(t *testing.T) {
	t.Parallel()
	var slot scheduler.Slot
	ctx, cancel := context.WithCancel(t.Context())
	did := 0
	if !slot.Lend(ctx, func() { did++ }) {
		t.Error("it did not come back")
	}
	cancel()
	if slot.Lend(ctx, func() { did++ }) || did != 2 {
		t.Errorf("lent %d times, and after the context's end", did)
	}
}

// An interrupt ends the wait for a slot that was lent, and no slot is lost.
func TestLendInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := scheduler.NewPool(scheduler.PoolOptions{Max: 1})
		busy := queued(t, scheduler.Options{Pool: pool}, func(string) {}, "1", "2", "3", "4", "5")
		stop := errors.New("stop")
		s := scheduler.New(t.Context(), scheduler.Options{Pool: pool})
		add(t, s, &funcJob{do: func(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
			if slot.Lend(ctx, func() { s.Interrupt(stop) }) || !errors.Is(context.Cause(ctx), stop) {
				t.Error("the job goes on")
			}
			return scheduler.Outcome{}
		}})
		s.Wait()
		busy.Wait()
		again := queued(t, scheduler.Options{Pool: pool}, func(string) {}, "1")
		began := time.Now()
		again.Wait()
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("a slot is lost: waited %v", d)
		}
	})
}

// A job that has ended does not take its slot again, though there is one.
func TestLendAfterTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(t.Context(), scheduler.Options{MaxConcurrent: 1})
		back := make(chan bool)
		add(t, s, &funcJob{do: func(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
			go func() { back <- slot.Lend(ctx, func() { time.Sleep(time.Second) }) }()
			time.Sleep(time.Millisecond) // it is lent by now
			return scheduler.Outcome{}
		}})
		if <-back {
			t.Error("a job that has ended has its slot")
		}
		ran := false
		add(t, s, &funcJob{run: func(context.Context) { ran = true }})
		synctest.Wait()
		if !ran {
			t.Error("the slot is lost")
		}
		s.Interrupt(nil)
		s.Wait()
	})
}
