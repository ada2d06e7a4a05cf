package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// queued starts a scheduler of a pool with safe jobs that run for a second each, and
// note their names when they start.
func queued(t *testing.T, o scheduler.Options, note func(string), names ...string) *scheduler.Scheduler {
	t.Helper()
	s := scheduler.New(t.Context(), o)
	for i, name := range names {
		group, _, _ := strings.Cut(name, ":")
		add(t, s, &funcJob{
			traits: scheduler.Traits{Group: strings.Trim(group, "0123456789")},
			admit:  func(context.Context) bool { time.Sleep(time.Duration(i + 1)); return true },
			run:    func(context.Context) { note(name); time.Sleep(time.Second) },
		})
	}
	return s
}

func TestPoolTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := scheduler.NewPool(scheduler.PoolOptions{Max: 1})
		var got []string
		note := func(name string) { got = append(got, name) }
		long := queued(t, scheduler.Options{Pool: pool}, note, "1", "2", "3", "4")
		time.Sleep(time.Millisecond)
		short := queued(t, scheduler.Options{Pool: pool}, note, "one", "two")
		long.Wait()
		short.Wait()
		if want := []string{"1", "2", "one", "3", "two", "4"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// Pools below one share its slots and its groups' too.
func TestPoolAbove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		top := scheduler.NewPool(scheduler.PoolOptions{Max: 3, MaxPerGroup: 2})
		unbounded := scheduler.NewPool(scheduler.PoolOptions{Above: top})
		var got []string
		began := time.Now()
		var mu sync.Mutex
		note := func(name string) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(int(time.Since(began).Seconds()), name))
		}
		var all []*scheduler.Scheduler
		for _, names := range [][]string{{"a1", "a2", "a3"}, {"a4", "b1", "b2"}} {
			pool := scheduler.NewPool(scheduler.PoolOptions{Max: 2, Above: unbounded})
			all = append(all, queued(t, scheduler.Options{Pool: pool}, note, names...))
			time.Sleep(time.Microsecond)
		}
		for _, s := range all {
			s.Wait()
		}
		if want := []string{"0a1", "0a2", "0b1", "1a3", "1b2", "1a4"}; !sameSet(got, want) {
			t.Errorf("%v, want %v in any order of those of a second", got, want)
		}
	})
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func TestPoolRefusesNegativeBounds(t *testing.T) {
	t.Parallel()
	for _, o := range []scheduler.PoolOptions{{Max: -1}, {MaxPerGroup: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v made a pool", o)
				}
			}()
			scheduler.NewPool(o)
		}()
	}
}
