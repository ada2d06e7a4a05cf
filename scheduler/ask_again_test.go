package scheduler_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// askedJob is a locked job whose locks a function tells.
type askedJob struct {
	funcJob
	ask func() []scheduler.Lock
}

func (j *askedJob) Traits() scheduler.Traits {
	return scheduler.Traits{Locked: true, Locks: j.ask()}
}

// order notes what ran.
type order struct {
	mu  sync.Mutex
	ran []string
}

func (o *order) note(name string) func(context.Context) {
	return func(context.Context) {
		time.Sleep(time.Second)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ran = append(o.ran, name)
	}
}

// TestAskedAgain has a job that runs alone change what the two behind it lock, from
// two names to one: they run in order, whether they were added before it ended or
// are while it ends.
func TestAskedAgain(t *testing.T) {
	for name, early := range map[string]bool{"queued before": true, "added meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := scheduler.New(t.Context(), scheduler.Options{})
				var o order
				var moved atomic.Bool
				var asked atomic.Int32
				add(t, s, &funcJob{unsafe: true, run: func(context.Context) { time.Sleep(time.Second); moved.Store(true) }})
				locked := func(name string) *askedJob {
					j := &askedJob{ask: func() []scheduler.Lock {
						was := moved.Load()
						if asked.Add(1) <= 2 && !early { // the answer is out of date when it comes
							time.Sleep(2 * time.Second)
						}
						if was {
							return []scheduler.Lock{{Name: "both", Write: true}}
						}
						return []scheduler.Lock{{Name: name, Write: true}}
					}}
					j.run = o.note(name)
					return j
				}
				first := locked("first")
				first.admit = func(context.Context) bool { time.Sleep(time.Second); return true }
				for _, j := range []*askedJob{first, locked("second")} {
					if err := s.Add(j); err != nil {
						t.Fatal(err)
					}
				}
				s.Wait()
				if !slices.Equal(o.ran, []string{"first", "second"}) {
					t.Errorf("they ran as %v", o.ran)
				}
			})
		})
	}
}

// TestInterruptedWhileAsked interrupts while a job is asked again, and has another end
// its goroutine when it is: each has its one end.
func TestInterruptedWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		interrupted := errors.New("interrupted")
		s := scheduler.New(t.Context(), scheduler.Options{})
		add(t, s, &funcJob{unsafe: true, run: func(context.Context) { time.Sleep(time.Second) }})
		asked, failed, yielded := 0, 0, 0
		j := &askedJob{ask: func() []scheduler.Lock {
			if asked++; asked == 2 {
				s.Interrupt(interrupted)
				time.Sleep(time.Second)
				if failed > 0 {
					t.Error("it failed while it was asked")
				}
			}
			return nil
		}}
		j.fail = func(err error) {
			if failed++; !errors.Is(err, interrupted) {
				t.Errorf("it failed with %v", err)
			}
		}
		j.yield = func() { yielded++ }
		if err := s.Add(j); err != nil {
			t.Fatal(err)
		}
		s.Wait()
		if asked != 2 || failed != 1 || yielded != 1 {
			t.Errorf("asked %d times, it failed %d times and yielded %d times", asked, failed, yielded)
		}
	})
}

// TestAskedTooEarly has a job that runs alone end while the one behind it answers: the answer
// is from before, so it is asked again.
func TestAskedTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(t.Context(), scheduler.Options{})
		second := func(context.Context) { time.Sleep(time.Second) }
		add(t, s, &funcJob{unsafe: true, run: second}, &funcJob{unsafe: true, run: second})
		asked := 0
		j := &askedJob{ask: func() []scheduler.Lock {
			if asked++; asked == 2 { // the first of the two has ended, and the other one runs
				time.Sleep(2 * time.Second)
			}
			return nil
		}}
		if err := s.Add(j); err != nil {
			t.Fatal(err)
		}
		s.Wait()
		if asked != 4 { // by Add, too early, before its turn, and after Admit
			t.Errorf("asked %d times, want 4", asked)
		}
	})
}

// TestExitsWhileAsked has a job end the goroutine that asks it again: it runs alone.
func TestExitsWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(t.Context(), scheduler.Options{})
		add(t, s, &funcJob{unsafe: true, run: func(context.Context) { time.Sleep(time.Second) }})
		asked := 0
		var o order
		j := &askedJob{ask: func() []scheduler.Lock {
			if asked++; asked == 2 {
				runtime.Goexit()
			}
			return nil
		}}
		j.run = o.note("it")
		if err := s.Add(j); err != nil {
			t.Fatal(err)
		}
		s.Wait()
		if len(o.ran) != 1 {
			t.Error("it did not run")
		}
	})
}

// A job that waited for its locks, and is asked for them again, has the new ones and
// not those it waited for.
func TestAskedAgainWhileItWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		write := func(name string) scheduler.Traits {
			return scheduler.Traits{Locked: true, Locks: []scheduler.Lock{{Name: name, Write: true}}}
		}
		var o order
		growing := &funcJob{unsafe: true, traits: write("a"), run: o.note("growing")}
		waiting := &askedJob{ask: func() []scheduler.Lock {
			if growing.traits.Locked {
				return write("b").Locks
			}
			return write("c").Locks
		}}
		waiting.run = o.note("waiting")
		growing.admit = func(context.Context) bool {
			time.Sleep(time.Second) // by then the one behind it waits for "b"
			growing.traits = scheduler.Traits{}
			return true
		}
		s := scheduler.New(t.Context(), scheduler.Options{})
		add(t, s, growing, &funcJob{unsafe: true, traits: write("b"), run: func(context.Context) { time.Sleep(2 * time.Second) }})
		if err := s.Add(waiting); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		add(t, s, &funcJob{unsafe: true, traits: write("c"), run: o.note("behind")})
		s.Wait()
		if want := []string{"growing", "waiting", "behind"}; !slices.Equal(o.ran, want) {
			t.Errorf("%v, want %v", o.ran, want)
		}
		// 2 s, again a second for its admission, and a second for each.
		if took := time.Since(began); took != 6*time.Second {
			t.Errorf("took %v: jobs with a conflict ran side by side", took)
		}
	})
}
