package engine

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

func TestOnlyTimeThatRunsCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var run Run
		run.Begin(t.Context(), time.Second)
		time.Sleep(600 * time.Millisecond)
		run.Pause()
		run.Pause()
		time.Sleep(time.Hour)
		run.Resume()
		run.Resume()
		time.Sleep(399 * time.Millisecond)
		if err := run.Over(); err != nil {
			t.Errorf("it is over too soon: %v", err)
		}
		time.Sleep(time.Millisecond)
		if err := run.Over(); !errors.Is(err, ErrOutOfTime) {
			t.Errorf("got %v", err)
		}
		run.Pause()
		if err := run.Over(); !errors.Is(err, ErrOutOfTime) {
			t.Errorf("pausing gave time back: %v", err)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var run Run
	run.Begin(ctx, time.Hour)
	if err := run.Over(); err != nil {
		t.Fatal(err)
	}
	cancel(errGone)
	if err := run.Over(); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
	if RunOf(&run) != &run || RunOf(context.WithValue(&run, guest{}, 1)) != &run {
		t.Error("the run is not found in its own context")
	}
}

// TestSpinningGuestsAreStopped measures from the end of the context, or of the
// time, to the return of the call.
func TestSpinningGuestsAreStopped(t *testing.T) {
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_3"), mib), mib, PutBackPure, ""))
	for _, end := range []error{errGone, ErrOutOfTime} {
		testenv.InTime(t, time.Second, func() time.Duration {
			in := take(t, p)
			defer p.Put(in, false)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			limit := 30 * time.Millisecond
			if errors.Is(end, errGone) {
				limit = time.Hour
				time.AfterFunc(30*time.Millisecond, func() { cancel(errGone) })
			}
			return testenv.Took(func() {
				if _, err := in.Host.call(ctx, limit, "spin"); !errors.Is(err, end) {
					t.Errorf("got %v; want %v", err, end)
				}
			})
		})
	}
}

// TestCollectionIsNotHeldUp forces garbage collections while ten guests spin. Each
// is to pause the world for less than 50 ms.
func TestCollectionIsNotHeldUp(t *testing.T) {
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_3"), mib), mib, PutBackPure, ""))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var spinning []*Instance[guest]
	defer func() {
		cancel()
		wg.Wait()
		for _, in := range spinning {
			p.Put(in, false)
		}
	}()
	for range 10 {
		in := take(t, p)
		spinning = append(spinning, in)
		wg.Go(func() { _, _ = in.Host.call(ctx, time.Hour, "spin") })
	}
	time.Sleep(20 * time.Millisecond)
	most := 50 * time.Millisecond
	if testenv.Race {
		most = testenv.Patience
	}
	testenv.InTime(t, most, medianPause)
}

// medianPause is the pause in the middle of several collections': one of them may
// meet a moment in which the machine does something else.
func medianPause() time.Duration {
	const collections = 5
	for range collections {
		runtime.GC()
	}
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	last := stats.Pause[:min(collections, len(stats.Pause))]
	slices.Sort(last)
	return last[len(last)/2]
}

func TestLinesOfTheLog(t *testing.T) {
	var run Run
	var lines []string
	run.Tell(func(line string) { lines = append(lines, line) })
	long := make([]byte, 2*maxLogLine)
	for i := range long {
		long[i] = 'x'
	}
	for _, piece := range []string{"a", "b\n\nc\xff\n", string(long), "\nlast"} {
		run.logLines.write([]byte(piece))
	}
	if last := run.LastWords(); last != "last" {
		t.Errorf("the last line is %q", last)
	}
	want := []string{"ab", "c\uFFFD", string(long[:maxLogLine]), "last"}
	if len(lines) != len(want) {
		t.Fatalf("got %d lines", len(lines))
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("line %d is %.20q; want %.20q", i, lines[i], want[i])
		}
	}
}

func TestStackIsBounded(t *testing.T) {
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_3"), mib), mib, PutBackPure, ""))
	in := take(t, p)
	_, err := in.Host.call(t.Context(), time.Minute, "recurse", 1<<30)
	if !errors.Is(err, ErrOutOfStack) {
		t.Errorf("got %v", err)
	}
	p.Put(in, false)
}
