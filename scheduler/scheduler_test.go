package scheduler_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

func TestPartition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		safe string
		want [][]int
	}{
		"nothing":        {"", nil},
		"one safe":       {"s", [][]int{{0}}},
		"one unsafe":     {"u", [][]int{{0}}},
		"all safe":       {"sss", [][]int{{0, 1, 2}}},
		"all unsafe":     {"uuu", [][]int{{0}, {1}, {2}}},
		"unsafe between": {"ssuss", [][]int{{0, 1}, {2}, {3, 4}}},
		"unsafe around":  {"ussu", [][]int{{0}, {1, 2}, {3}}},
		"alternating":    {"susu", [][]int{{0}, {1}, {2}, {3}}},
	} {
		safe := make([]bool, len(c.safe))
		for i := range c.safe {
			safe[i] = c.safe[i] == 's'
		}
		if got := scheduler.Partition(safe); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Many safe jobs wait for a person and hold no slot: the rest goes on.
func TestAdmissionHoldsNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(t.Context(), scheduler.Options{MaxConcurrent: 1})
		person := make(chan struct{})
		for range 20 {
			add(t, s, &funcJob{admit: func(context.Context) bool { <-person; return true }})
		}
		ran := false
		add(t, s, &funcJob{run: func(context.Context) { ran = true }})
		synctest.Wait()
		if !ran {
			t.Error("a job that needs nobody waits for a person")
		}
		close(person)
		s.Wait()
	})
}

// A job that must run alone holds back what follows while a person is asked.
func TestUnsafeAdmissionHoldsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(t.Context(), scheduler.Options{})
		person := make(chan struct{})
		turn := false
		add(t, s,
			&funcJob{unsafe: true, admit: func(context.Context) bool { <-person; return true }},
			&funcJob{admit: func(context.Context) bool { turn = true; return true }})
		synctest.Wait()
		if turn {
			t.Error("a later job has its turn while an unsafe one is admitted")
		}
		close(person)
		s.Wait()
		if !turn {
			t.Error("the later job never had its turn")
		}
	})
}

func TestMaxAdmitting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(t.Context(), scheduler.Options{MaxAdmitting: 3})
		person := make(chan struct{})
		asked := atomic.Int32{}
		for range 10 {
			add(t, s, &funcJob{admit: func(context.Context) bool { asked.Add(1); <-person; return true }})
		}
		synctest.Wait()
		if n := asked.Load(); n != 3 {
			t.Errorf("%d jobs are being admitted, want 3", n)
		}
		close(person)
		s.Wait()
		if n := asked.Load(); n != 10 {
			t.Errorf("%d jobs were admitted, want 10", n)
		}
	})
}

func TestStates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		seen := map[string][]string{}
		s := scheduler.New(t.Context(), scheduler.Options{Observe: func(j scheduler.Job, state scheduler.State) {
			mu.Lock()
			defer mu.Unlock()
			name := j.(*funcJob).name
			seen[name] = append(seen[name], state.String())
		}})
		rewritten := &funcJob{name: "rewritten"}
		rewritten.admit = func(context.Context) bool { rewritten.unsafe = true; return true }
		add(t, s,
			&funcJob{name: "plain"},
			&funcJob{name: "refused", admit: func(context.Context) bool { return false }},
			rewritten)
		s.Wait()
		want := map[string][]string{
			"plain":     {"queued", "admitting", "executing", "completed", "yielded"},
			"refused":   {"queued", "admitting", "completed", "yielded"},
			"rewritten": {"queued", "admitting", "queued", "admitting", "executing", "completed", "yielded"},
		}
		if !reflect.DeepEqual(seen, want) {
			t.Errorf("\n got %v\nwant %v", seen, want)
		}
	})
	if got := scheduler.State(9).String(); got != "state 9" {
		t.Error(got)
	}
}

// The changes of a batch are not seen inside it, in order before the next job
// outside it, and those of a job that ran alone before its result leaves.
func TestSettleOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log []string
		note := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, s)
		}
		logged := func(name string, unsafe bool, d time.Duration) *funcJob {
			return &funcJob{
				unsafe: unsafe,
				run:    func(context.Context) { time.Sleep(d); note("run " + name) },
				settle: func() { note("settle " + name) },
				yield:  func() { note("yield " + name) },
			}
		}
		s := scheduler.New(t.Context(), scheduler.Options{})
		add(t, s, logged("a", false, 2), logged("b", false, 1), logged("c", true, 1), logged("d", false, 1))
		s.Wait()
		if len(log) != 12 {
			t.Fatalf("%v", log)
		}
		// What leaves and what is settled after a batch are not ordered among
		// each other, so the law is a list of pairs.
		for _, pair := range [][2]string{
			{"run b", "run a"},
			{"run a", "settle a"}, {"settle a", "settle b"}, {"settle b", "run c"},
			{"run c", "settle c"}, {"settle c", "yield c"}, {"settle c", "run d"},
			{"run d", "settle d"},
			{"run a", "yield a"}, {"yield a", "yield b"}, {"yield b", "yield c"}, {"yield c", "yield d"},
		} {
			if slices.Index(log, pair[0]) > slices.Index(log, pair[1]) {
				t.Errorf("%q comes after %q in %v", pair[0], pair[1], log)
			}
		}
	})
}

// A slow consumer of results holds back results, not work.
func TestSlowYield(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(t.Context(), scheduler.Options{MaxConcurrent: 1})
		consumer := make(chan struct{})
		ran := atomic.Int32{}
		for i := range 10 {
			add(t, s, &funcJob{
				unsafe: i%2 == 0,
				run:    func(context.Context) { ran.Add(1) },
				yield:  func() { <-consumer },
			})
		}
		synctest.Wait()
		if n := ran.Load(); n != 10 {
			t.Errorf("%d of 10 jobs ran", n)
		}
		close(consumer)
		s.Wait()
	})
}

// Jobs may be added by jobs; a job's own calls take no slot.
func TestAddFromJob(t *testing.T) {
	t.Parallel()
	s := scheduler.New(t.Context(), scheduler.Options{MaxConcurrent: 1})
	ran := make(chan struct{})
	add(t, s, &funcJob{run: func(context.Context) {
		add(t, s, &funcJob{run: func(context.Context) { close(ran) }})
	}})
	<-ran
	s.Wait()
}

// TestLend runs the last job on the goroutine that waits, and only that one.
func TestLend(t *testing.T) {
	t.Parallel()
	here := goroutine()
	for jobs := 1; jobs <= 3; jobs++ {
		var mu sync.Mutex
		ran := make(map[int]string)
		s := scheduler.New(t.Context(), scheduler.Options{Lend: func(scheduler.Job) bool { return true }})
		for i := range jobs {
			add(t, s, &funcJob{run: func(context.Context) {
				mu.Lock()
				defer mu.Unlock()
				ran[i] = goroutine()
			}})
		}
		s.Wait()
		for i := range jobs {
			if lent := ran[i] == here; lent != (i == jobs-1) {
				t.Errorf("%d jobs: job %d ran on the waiting goroutine: %v", jobs, i, lent)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	cases := map[string]struct {
		job  funcJob
		want string
		is   error
	}{
		"panic in Admit":          {funcJob{admit: func(context.Context) bool { panic("boom") }}, "panic in Admit: boom", nil},
		"panic in Run":            {funcJob{run: func(context.Context) { panic(boom) }}, "panic in Run: boom", boom},
		"nil panic in Run":        {funcJob{run: func(context.Context) { panic(nil) }}, "panic in Run: panic called with nil argument", nil},
		"panic in Settle, alone":  {funcJob{unsafe: true, settle: func() { panic(boom) }}, "panic in Settle: boom", boom},
		"Goexit in Run":           {funcJob{run: func(context.Context) { runtime.Goexit() }}, scheduler.ErrExited.Error(), scheduler.ErrExited},
		"Goexit in Admit, unsafe": {funcJob{unsafe: true, admit: func(context.Context) bool { runtime.Goexit(); return true }}, scheduler.ErrExited.Error(), scheduler.ErrExited},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scheduler.New(t.Context(), scheduler.Options{MaxConcurrent: 1})
			var got error
			job := c.job
			job.fail = func(err error) { got = err }
			after := false
			add(t, s, &job, &funcJob{run: func(context.Context) { after = true }})
			s.Wait()
			if got == nil || !strings.HasPrefix(got.Error(), c.want) {
				t.Fatalf("failed with %v, want %s", got, c.want)
			}
			if c.is != nil && !errors.Is(got, c.is) {
				t.Errorf("%v is not %v", got, c.is)
			}
			if p, ok := errors.AsType[*scheduler.PanicError](got); ok && len(p.Stack) == 0 {
				t.Error("a panic without a stack")
			}
			if !after {
				t.Error("the next job did not run: the slot is lost")
			}
		})
	}
}
