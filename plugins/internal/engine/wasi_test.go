package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolquay/toolquay/internal/testenv"
)

// wasiGuest is an instance of the fixture with as many pages.
func wasiGuest(t *testing.T, e *Engine, pages int64) guest {
	t.Helper()
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "wasi"), pages*pageSize), pages*pageSize, PutBackNone, ""))
	in, err := p.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	if pages > 1 {
		in.Host.must(t, "grow", uint64(pages-1))
	}
	return in.Host
}

// TestLongArgumentsEndWithTheCall has one WASI call each that takes seconds by
// itself.
func TestLongArgumentsEndWithTheCall(t *testing.T) {
	const limit = 50 * time.Millisecond
	g := wasiGuest(t, newEngine(t), 1<<14) // 1 GiB
	tests := map[string]struct {
		prepare func()
		export  string
		args    []uint64
	}{
		"134,217,727 pieces":      {nil, "fd_write", []uint64{1, 4096, 1<<27 - 1000, 4}},
		"1 GiB of random numbers": {nil, "random_get", []uint64{0, 1<<30 - 1}},
		"a million pieces of a megabyte": {func() {
			g.must(t, "fill", '\n', 32<<20)
			g.must(t, "fill", 0, 16<<20)
			for i := range uint64(1000) {
				g.must(t, "put", 8*i, 16<<20)
				g.must(t, "put", 8*i+4, 1<<20)
			}
		}, "fd_write", []uint64{2, 0, 1 << 20, 1 << 29}},
		"an hour's sleep": {func() {
			g.must(t, "fill", 0, 48)
			g.must(t, "put", 16, 1)
			g.must(t, "put", 28, 838)
		}, "poll_oneoff", []uint64{0, 64, 1, 128}},
		"calls without end": {nil, "times", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.prepare != nil {
				test.prepare()
			}
			testenv.InTime(t, limit+time.Second, func() time.Duration {
				return testenv.Took(func() {
					v, err := g.call(t.Context(), limit, test.export, test.args...)
					if !errors.Is(err, ErrOutOfTime) {
						t.Errorf("answered %d, %v", v, err)
					}
				})
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errGone)
			if _, err := g.call(ctx, time.Minute, test.export, test.args...); !errors.Is(err, errGone) {
				t.Errorf("cancelled, it answered %v", err)
			}
		})
	}
}

func TestSleepIsReal(t *testing.T) {
	g := wasiGuest(t, newEngine(t), 1)
	g.must(t, "put", 16, 1)                  // the monotonic clock
	g.must(t, "put", 24, uint64(20_000_000)) // 20 ms
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if e, err := g.call(t.Context(), time.Minute, "poll_oneoff", 0, 64, 1, 128); err != nil || e != 0 {
			t.Fatalf("got errno %d, %v", e, err)
		}
		if slept := time.Since(began); slept != 20*time.Millisecond {
			t.Errorf("it slept %v", slept)
		}
	})
	if n := g.must(t, "get", 128); n != 1 {
		t.Errorf("%d events came", n)
	}
}

func TestOutputIsLogged(t *testing.T) {
	g := wasiGuest(t, newEngine(t), 1)
	var run Run
	run.Begin(t.Context(), time.Minute)
	var lines []string
	run.Tell(func(line string) { lines = append(lines, line) })
	g.must(t, "put", 0, 1024)
	g.must(t, "put", 4, 14)
	if e, err := g.callIn(&run, "fd_write", 1, 0, 1, 512); err != nil || e != 0 {
		t.Fatalf("got errno %d, %v", e, err)
	}
	if n := g.must(t, "get", 512); n != 14 {
		t.Errorf("%d bytes were written", n)
	}
	last := run.LastWords()
	if want := []string{"one", "two", "\uFFFDthree"}; !slices.Equal(lines, want) || last != want[2] {
		t.Errorf("the log is %q, its last line %q", lines, last)
	}
	// A stream stays closed for the call, and no longer.
	for _, want := range []uint64{uint64(success), uint64(badf)} {
		if e, err := g.callIn(&run, "fd_close", 1); err != nil || e != want {
			t.Errorf("closing answers %d, %v; want %d", e, err, want)
		}
	}
	if e, err := g.callIn(&run, "fd_write", 1, 0, 1, 512); err != nil || e != uint64(badf) {
		t.Errorf("writing to a closed stream answers %d, %v", e, err)
	}
	if e := g.must(t, "fd_write", 1, 0, 1, 512); e != uint64(success) {
		t.Errorf("the next call's write answers %d", e)
	}
}

func TestExitEndsTheCall(t *testing.T) {
	_, err := wasiGuest(t, newEngine(t), 1).call(t.Context(), time.Minute, "exit", 3)
	var exit *sys.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("got %v", err)
	}
}

// TestLinkingAtOnce has many link the same modules.
func TestLinkingAtOnce(t *testing.T) {
	e := newEngine(t)
	var wg sync.WaitGroup
	var defined atomic.Int32
	for range 16 {
		wg.Go(func() {
			err := e.Link(t.Context(), "test", func(wazero.HostModuleBuilder) { defined.Add(1) })
			if err = errors.Join(err, e.LinkWASI(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := defined.Load(); n != 1 {
		t.Errorf("it was defined %d times", n)
	}
}

// TestWASIHasEveryFunction compares with the functions and types that wazero's
// own implementation has.
func TestWASIHasEveryFunction(t *testing.T) {
	r := wazero.NewRuntime(t.Context())
	defer r.Close(t.Context())
	theirs, err := wasi_snapshot_preview1.NewBuilder(r).Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range theirs.ExportedFunctions() {
		if name == "proc_exit" {
			continue
		}
		ours, ok := wasiFunctions[name]
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		if got, want := typesOf(ours.types()), typesOf(f.ParamTypes()); got != want {
			t.Errorf("%s takes %s; want %s", name, got, want)
		}
	}
	if ours, all := len(wasiFunctions)+1, len(theirs.ExportedFunctions()); ours != all {
		t.Errorf("there are %d functions; want %d", ours, all)
	}
}

func typesOf(types []api.ValueType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = api.ValueTypeName(t)
	}
	return strings.Join(names, " ")
}

// TestPollTellsTheTime where it waits for a point in time, and not where it waits
// for a while.
func TestPollTellsTheTime(t *testing.T) {
	g := wasiGuest(t, newEngine(t), 1)
	const clockID, lowTimeout, flags = 16, 24, 40
	for absolute, events := range map[uint64]uint64{0: 1, 1: 2} {
		g.must(t, "fill", 0, 4096)
		g.must(t, "put", clockID, clockMonotonic)
		g.must(t, "put", lowTimeout, 1-absolute) // a nanosecond, or long ago
		g.must(t, "put", flags, absolute)
		g.must(t, "put", subscriptionSize+clockID, clockMonotonic)
		g.must(t, "put", subscriptionSize+lowTimeout, 2*(1-absolute)) // two, or at once
		run := &Run{}
		answer, err := g.callIn(run.under(t.Context(), time.Minute), "poll_oneoff", 0, 1024, 2, 2048)
		run.End()
		if err != nil || answer != 0 {
			t.Fatalf("answered %d, %v", answer, err)
		}
		if run.outside != (absolute == 1) {
			t.Errorf("absolute %d: it learnt something from outside: %v", absolute, run.outside)
		}
		if n := g.must(t, "get", 2048); n != events {
			t.Errorf("absolute %d: there are %d events; want %d", absolute, n, events)
		}
	}
}
