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
		in := take(t, p)
		ctx, cancel := context.WithCancelCause(t.Context())
		limit := 30 * time.Millisecond
		if errors.Is(end, errGone) {
			limit = time.Hour
			time.AfterFunc(30*time.Millisecond, func() { cancel(errGone) })
		}
		began := time.Now()
		_, err := in.Host.call(ctx, limit, "spin")
		if !errors.Is(err, end) {
			t.Errorf("got %v; want %v", err, end)
		}
		if late := time.Since(began) - 30*time.Millisecond; late > time.Second {
			t.Errorf("it was stopped %v late", late)
		}
		cancel(nil)
		p.Put(in, false)
	}
}

// TestCollectionIsNotHeldUp forces garbage collections while ten guests spin. A
// machine that is busy otherwise gets more than one chance.
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
	var worst time.Duration
	for range 5 {
		if worst = worstPause(5); worst < 50*time.Millisecond {
			return
		}
	}
	t.Errorf("collections pause for up to %v", worst)
}

// worstPause is the longest pause of as many collections.
func worstPause(collections int) time.Duration {
	for range collections {
		runtime.GC()
	}
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	return slices.Max(stats.Pause[:min(collections, len(stats.Pause))])
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
		run.log.write([]byte(piece))
	}
	if last := run.LastLine(); last != "last" {
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
