package scheduler_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/scheduler"
)

// A queued job that comes to run alone parts its batch: what failed before it does
// not reach those behind it, added before or later.
func TestCascadeAroundChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(t.Context(), scheduler.Options{})
		second := func(context.Context) { time.Sleep(time.Second) }
		failing := func(context.Context, *scheduler.Slot) scheduler.Outcome {
			time.Sleep(time.Second)
			return scheduler.Outcome{Failed: true}
		}
		var failed []string
		behind := func(name string) *funcJob {
			return &funcJob{traits: scheduler.Traits{Cascade: true}, run: second, fail: func(error) { failed = append(failed, name) }}
		}
		locks := scheduler.Traits{Locked: true, Cascade: true}
		changed := &funcJob{traits: locks, unsafe: true, run: second}
		add(t, s,
			&funcJob{unsafe: true, run: func(context.Context) { time.Sleep(time.Second); changed.traits = scheduler.Traits{} }},
			&funcJob{traits: locks, unsafe: true, do: failing},
			changed,
			behind("queued"))
		time.Sleep(2*time.Second + time.Millisecond)
		add(t, s, behind("added"))
		s.Wait()
		if len(failed) > 0 {
			t.Errorf("%v failed, behind one that ran alone", failed)
		}
	})
}

// A panic in Settle of a job that has failed already is told.
func TestPanickedAfterFailure(t *testing.T) {
	t.Parallel()
	var told []string
	s := scheduler.New(t.Context(), scheduler.Options{Panicked: func(_ scheduler.Job, p *scheduler.PanicError) {
		told = append(told, p.Method)
	}})
	add(t, s, &funcJob{unsafe: true, run: func(context.Context) { panic("run") }, settle: func() { panic("settle") }})
	s.Wait()
	if want := []string{"Settle"}; !slices.Equal(told, want) {
		t.Errorf("%v, want %v", told, want)
	}
}

// A job that has left is let go of while the turn goes on.
func TestJobsAreLetGo(t *testing.T) {
	t.Parallel()
	s := scheduler.New(t.Context(), scheduler.Options{})
	all := make(chan struct{}) // are added
	done := make(chan struct{})
	var left []chan struct{}
	for i := range 20 {
		gone := make(chan struct{})
		left = append(left, gone)
		j := &funcJob{unsafe: true, name: "job", run: func(context.Context) { <-all }}
		if i == 19 {
			j.yield = func() { close(done) }
		}
		j.admit = func(context.Context) bool { return j.name != "" }
		runtime.AddCleanup(j, func(gone chan struct{}) { close(gone) }, gone)
		add(t, s, j)
	}
	close(all)
	<-done
	for i, gone := range left {
		deadline := time.Now().Add(testenv.Patience)
		for open := true; open; {
			runtime.GC()
			select {
			case <-gone:
				open = false
			case <-time.After(time.Millisecond):
				if time.Now().After(deadline) {
					t.Fatalf("job %d of %d is still there", i, len(left))
				}
			}
		}
	}
	s.Wait()
}

// Those that are doomed fail though results leave slowly.
func TestDoomedDoNotWaitForYield(t *testing.T) {
	t.Parallel()
	testRules(t, []ruleTest{{
		name:  "two failures and a slow consumer",
		jobs:  []string{"alone run=2 yield=5", "alone yield=5", "alone yield=5"},
		stops: at(interrupted, 1),
		want:  []string{"0-1 interrupted", "--1 interrupted", "--1 interrupted"},
	}})
}

// Effects that are due for those who begin at the same moment are applied in call
// order, and before any of them is admitted.
func TestDueInOrder(t *testing.T) {
	t.Parallel()
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var log []string
			note := func(s string) {
				mu.Lock()
				defer mu.Unlock()
				log = append(log, s)
			}
			locked := func(name string) scheduler.Traits {
				return scheduler.Traits{Locked: true, Locks: []scheduler.Lock{{Name: name, Write: true}}}
			}
			begins := func(context.Context) bool { note("begin"); return true }
			s := scheduler.New(t.Context(), scheduler.Options{})
			add(t, s,
				&funcJob{traits: locked("a"), settle: func() { runtime.Gosched(); note("a") }},
				&funcJob{run: func(context.Context) { time.Sleep(time.Second) }, settle: func() { runtime.Gosched(); note("any") }},
				&funcJob{unsafe: true, traits: locked("a"), admit: begins},
				&funcJob{unsafe: true, traits: locked("b"), admit: begins},
				&funcJob{traits: locked("c"), admit: begins})
			s.Wait()
			if want := []string{"a", "any", "begin", "begin", "begin"}; !slices.Equal(log, want) {
				t.Fatalf("%v, want %v", log, want)
			}
		})
	}
}
