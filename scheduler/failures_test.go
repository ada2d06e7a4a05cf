package scheduler_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

func TestPanickedTellsTheRest(t *testing.T) {
	t.Parallel()
	var told []string
	s := scheduler.New(t.Context(), scheduler.Options{Panicked: func(_ scheduler.Job, p *scheduler.PanicError) {
		told = append(told, p.Method)
	}})
	add(t, s, &funcJob{
		run:    func(context.Context) { panic("run") },
		fail:   func(error) { panic("fail") },
		yield:  func() { panic("yield") },
		settle: func() { panic("settle") },
	})
	s.Wait()
	if want := []string{"Fail", "Yield", "Settle"}; !slices.Equal(told, want) {
		t.Errorf("%v, want %v", told, want)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := scheduler.New(ctx, scheduler.Options{MaxConcurrent: 1})
		var failures []error
		var saw error
		record := func(err error) { failures = append(failures, err) }
		add(t, s, &funcJob{run: func(ctx context.Context) { <-ctx.Done(); saw = context.Cause(ctx) }})
		synctest.Wait()
		add(t, s,
			&funcJob{run: func(context.Context) { t.Error("ran while waiting for a slot") }, fail: record},
			&funcJob{unsafe: true, admit: func(context.Context) bool { t.Error("had its turn"); return true }, fail: record})
		synctest.Wait()
		cancel(cause)
		synctest.Wait()
		add(t, s, &funcJob{admit: func(context.Context) bool { t.Error("had its turn"); return true }, fail: record})
		s.Wait()
		if !errors.Is(saw, cause) || len(failures) != 3 {
			t.Fatalf("running saw %v; failures %v", saw, failures)
		}
		for _, err := range failures {
			if !errors.Is(err, cause) {
				t.Error(err)
			}
		}
	})
}

// A job whose context ends between two steps does not take the next one.
func TestCancelledBetweenSteps(t *testing.T) {
	t.Parallel()
	for name, unsafe := range map[string]bool{"safe": false, "unsafe": true} {
		ctx, cancel := context.WithCancel(t.Context())
		s := scheduler.New(ctx, scheduler.Options{})
		var got error
		add(t, s, &funcJob{
			unsafe: unsafe,
			admit:  func(context.Context) bool { cancel(); return true },
			run:    func(context.Context) { t.Errorf("%s: ran", name) },
			fail:   func(err error) { got = err },
		})
		s.Wait()
		if !errors.Is(got, context.Canceled) {
			t.Errorf("%s: failed with %v", name, got)
		}
	}
}

// A job that ends its goroutine, and the one on which it is told of that too, is settled and
// leaves.
func TestExitsTwice(t *testing.T) {
	t.Parallel()
	for name, unsafe := range map[string]bool{"safe": false, "unsafe": true} {
		for _, method := range []string{"Admit", "Run"} {
			var settled, gone, other atomic.Int32
			s := scheduler.New(t.Context(), scheduler.Options{})
			exits := func(here string) {
				if here == method {
					runtime.Goexit()
				}
			}
			add(t, s, &funcJob{
				unsafe: unsafe,
				admit:  func(context.Context) bool { exits("Admit"); return true },
				run:    func(context.Context) { exits("Run") },
				fail:   func(error) { runtime.Goexit() },
				settle: func() { settled.Add(1) },
				yield:  func() { gone.Add(1) },
			}, &funcJob{run: func(context.Context) { other.Add(1) }})
			s.Wait()
			if settled.Load() != 1 || gone.Load() != 1 || other.Load() != 1 {
				t.Errorf("%s, in %s: settled %d times, left %d times, the next ran %d times", name, method, settled.Load(), gone.Load(), other.Load())
			}
		}
	}
}

// Jobs that became unsafe run in call order, whichever became so first.
func TestDemotedKeepOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran []int
		s := scheduler.New(t.Context(), scheduler.Options{})
		for i := range 4 {
			job := &funcJob{run: func(context.Context) { ran = append(ran, i) }}
			job.admit = func(context.Context) bool {
				if !job.unsafe {
					time.Sleep(time.Duration(10 - i))
				}
				job.unsafe = true
				return true
			}
			add(t, s, job)
		}
		s.Wait()
		if !slices.Equal(ran, []int{0, 1, 2, 3}) {
			t.Errorf("ran in the order %v", ran)
		}
	})
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := scheduler.New(t.Context(), scheduler.Options{})
	s.Close()
	if err := s.Add(&funcJob{}); !errors.Is(err, scheduler.ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	s.Wait()
	s.Wait()
}
