package scheduler_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/scheduler"
)

// loads make jobs that do nothing, so that all there is to do is to order them.
var loads = map[string]func(i int) *funcJob{
	"safe":      func(int) *funcJob { return &funcJob{} },
	"exclusive": func(int) *funcJob { return &funcJob{unsafe: true} },
	"disjoint": func(i int) *funcJob {
		name := "file:/home/user/project/src/file" + strconv.Itoa(i)
		return &funcJob{unsafe: true, traits: scheduler.Traits{Locked: true, Locks: []scheduler.Lock{{Name: name, Write: true}}}}
	},
	"conflicting": func(i int) *funcJob {
		name := "file:/home/user/project/src/file" + strconv.Itoa(i%3)
		return &funcJob{unsafe: i%2 == 0, traits: scheduler.Traits{Locked: true, Locks: []scheduler.Lock{{Name: name, Write: i%2 == 0}}}}
	},
}

func makeLoad(kind string, n int) []*funcJob {
	jobs := make([]*funcJob, n)
	for i := range jobs {
		jobs[i] = loads[kind](i)
	}
	return jobs
}

// runAll runs jobs that are all queued before the first one may run.
func runAll(tb testing.TB, jobs []*funcJob) {
	tb.Helper()
	s := scheduler.New(tb.Context(), scheduler.Options{})
	for _, j := range jobs {
		if err := s.Add(j); err != nil {
			tb.Fatal(err)
		}
	}
	s.Wait()
}

// BenchmarkJob measures what it costs to order a job, at most 2 us of 10,000 by the
// issue's promise.
func BenchmarkJob(b *testing.B) {
	for _, kind := range []string{"safe", "exclusive", "disjoint", "conflicting"} {
		for _, n := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				jobs := makeLoad(kind, n)
				b.ReportAllocs()
				for b.Loop() {
					runAll(b, jobs)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
			})
		}
	}
}

// queue makes a scheduler whose first job holds back as many others as there are.
func queue(t *testing.T, kind string, n int) (s *scheduler.Scheduler, begin func()) {
	t.Helper()
	s = scheduler.New(t.Context(), scheduler.Options{})
	gate := make(chan struct{})
	add(t, s, &funcJob{unsafe: true, run: func(context.Context) { <-gate }})
	add(t, s, makeLoad(kind, n)...)
	return s, func() { close(gate) }
}

// linear is how long the jobs of a queue may take where each costs the same: fifty
// times what was measured, for a busy machine, and a small part of what they take if
// each looks at all the others.
const (
	queuedJobs = 20_000
	linear     = queuedJobs * 50 * time.Microsecond
)

// What a job costs does not grow with how many there are.
func TestLinear(t *testing.T) {
	if turns < 1000 {
		return // the race detector's time is not the scheduler's
	}
	for kind := range loads {
		testenv.InTime(t, linear, func() time.Duration {
			s, begin := queue(t, kind, queuedJobs)
			return testenv.Took(func() { begin(); s.Wait() })
		})
	}
}

// Nor does what it allocates.
func TestAllocationsAreLinear(t *testing.T) {
	for kind, most := range map[string]float64{"safe": 3, "exclusive": 3, "disjoint": 5, "conflicting": 6} {
		for _, n := range []int{100, 10_000} {
			jobs := makeLoad(kind, n)
			got := testing.AllocsPerRun(2, func() { runAll(t, jobs) }) / float64(n)
			if got > most {
				t.Errorf("%s: %.1f allocations a job, of %d; at most %v", kind, got, n, most)
			}
		}
	}
}

// A stop of all that is queued is linear too.
func TestStopsAreLinear(t *testing.T) {
	if turns < 1000 {
		return
	}
	for _, stop := range []func(*scheduler.Scheduler){
		func(s *scheduler.Scheduler) { s.Interrupt(errPlanned) },
		func(s *scheduler.Scheduler) { s.Discard(errPlanned) },
	} {
		testenv.InTime(t, linear, func() time.Duration {
			s, begin := queue(t, "safe", queuedJobs)
			return testenv.Took(func() { stop(s); begin(); s.Wait() })
		})
	}
}
