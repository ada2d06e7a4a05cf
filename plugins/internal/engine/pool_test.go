package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

const mib = 1 << 20

// modes are the ways in which memory is kept clean, each with a guest that
// brings it about: what it starts with, and how densely it writes.
var modes = map[string]struct {
	wasm   string
	policy Policy
	start  string
	stride uint64
	mapped bool
	back   bool
}{
	"fresh by policy":          {"state_3", PutBackNone, "init", 512, false, false},
	"fresh by a random start":  {"state_3", PutBackPure, "init_random", 512, false, false},
	"copied":                   {"state_3", PutBackPure, "init", 512, false, true},
	"copied, no start":         {"state_3", PutBackPure, "", 4096, false, true},
	"copied, large and dense":  {"state_40", PutBackPure, "init", 512, false, true},
	"mapped":                   {"state_40", PutBackPure, "init", 512 << 10, true, true},
	"mapped, a random start":   {"state_40", PutBackAll, "init_random", 512 << 10, true, true},
	"mapped, dense thereafter": {"state_40", PutBackPure, "init", 512 << 10, true, true},
}

// TestMemoryIsCleanForEveryCall scribbles all over instances, grows them, and
// looks at everything that can be seen before and after.
func TestMemoryIsCleanForEveryCall(t *testing.T) {
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			p := newPool(t, e, planOf(compile(t, e, fixture(t, mode.wasm), 64*mib), 64*mib, mode.policy, mode.start))
			random := mode.policy == PutBackPure && mode.start == "init_random"
			var want uint64
			for i := range 30 {
				in := take(t, p)
				got := in.Host.must(t, "sum")
				if i == 1 || i == 0 && mode.policy != PutBackAll {
					want = got
				}
				if i > 0 && got != want && !random {
					t.Fatalf("call %d sees %x where the first saw %x", i, got, want)
				}
				scribble(t, in.Host, i, mode.stride)
				if name == "mapped, dense thereafter" && i > samples {
					in.Host.must(t, "scribble", 512)
				}
				p.Put(in, true)
				settle(p)
			}
			in := take(t, p)
			defer p.Put(in, true)
			if back := in.core.snap != nil; back != mode.back {
				t.Errorf("instances are put back: %v; want %v", back, mode.back)
			}
			mapped := in.core.parts[0].memory.mapped
			if mapped != (mode.mapped && canMap(t)) {
				t.Errorf("memory is mapped: %v; want %v", mapped, mode.mapped)
			}
		})
	}
}

// canMap reports whether this system has what mapping snapshots needs.
func canMap(t *testing.T) bool {
	t.Helper()
	image := newImage(make([]byte, pageSize), mib)
	if image == nil {
		return false
	}
	image.close()
	return true
}

// scribble writes to memory and globals, and to grown memory in some calls.
func scribble(t *testing.T, g guest, i int, stride uint64) {
	t.Helper()
	switch i % 3 {
	case 1:
		g.must(t, "grow", 2)
	case 2:
		g.must(t, "grow", 100)
	}
	g.must(t, "scribble", stride)
}

// TestGrownMemoryIsTakenBack: what a guest grew by is outside its memory again,
// and zero when it is next grown into.
func TestGrownMemoryIsTakenBack(t *testing.T) {
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_3"), 64*mib), 64*mib, PutBackPure, "init"))
	p.Put(take(t, p), true)
	settle(p)
	const start = 4 * pageSize
	for _, pages := range []uint64{1, 4, 5, 100, 196} {
		in := take(t, p)
		if size := in.Host.mod.Memory().Size(); size != start {
			t.Fatalf("the memory has %d bytes", size)
		}
		if _, err := in.Host.call(t.Context(), time.Second, "peek", start); err == nil {
			t.Error("a byte outside the memory can be read")
		}
		if got := in.Host.must(t, "grow", pages); got != 4 {
			t.Errorf("growing by %d answers %d", pages, int32(got))
		}
		for _, at := range []uint64{start, start + pages*pageSize - 1} {
			if b := in.Host.must(t, "peek", at); b != 0 {
				t.Errorf("grown memory has %#x at %d", b, at)
			}
		}
		in.Host.must(t, "scribble", 256)
		p.Put(in, true)
		settle(p)
	}
}

// TestFailedInstancesAreThrownAway has calls that trap, run out of time and are
// cancelled.
func TestFailedInstancesAreThrownAway(t *testing.T) {
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			p := newPool(t, e, planOf(compile(t, e, fixture(t, mode.wasm), 64*mib), 64*mib, mode.policy, "init"))
			p.Put(take(t, p), true)
			settle(p)
			clean := take(t, p)
			want := clean.Host.must(t, "sum")
			p.Put(clean, true)
			for _, end := range []string{"trap", "time", "cancel"} {
				settle(p)
				in := take(t, p)
				if err := endBy(t, in.Host, end); err == nil {
					t.Fatalf("%s: the guest came to its end", end)
				}
				p.Put(in, false)
				settle(p)
				next := take(t, p)
				if next == in {
					t.Errorf("after %s the instance is used again", end)
				}
				if got := next.Host.must(t, "sum"); got != want {
					t.Errorf("after %s the next call sees %x; want %x", end, got, want)
				}
				p.Put(next, true)
			}
		})
	}
}

func endBy(t *testing.T, g guest, end string) error {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	switch end {
	case "trap":
		_, err := g.call(ctx, time.Minute, "trap")
		return err
	case "time":
		_, err := g.call(ctx, 5*time.Millisecond, "spin")
		return err
	}
	time.AfterFunc(5*time.Millisecond, func() { cancel(errGone) })
	_, err := g.call(ctx, time.Minute, "spin")
	return err
}

// TestPoolHammer has many calls at once, of which some fail.
func TestPoolHammer(t *testing.T) {
	for name, mode := range modes {
		if mode.start == "init_random" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			p := newPool(t, e, planOf(compile(t, e, fixture(t, mode.wasm), 64*mib), 64*mib, mode.policy, mode.start))
			first := take(t, p)
			want := first.Host.must(t, "sum")
			p.Put(first, true)
			var wg sync.WaitGroup
			for w := range 4 {
				wg.Go(func() { hammer(t, p, uint64(w), want, mode.stride) })
			}
			for range 5 {
				time.Sleep(2 * time.Millisecond)
				p.shrink() // as when the engine is short of memory
			}
			wg.Wait()
		})
	}
}

func hammer(t *testing.T, p *Pool[guest], seed, want, stride uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	for range max(testenv.Sample(40), 10) {
		in, err := p.Take(context.Background())
		if err != nil {
			t.Error(err)
			return
		}
		if got, err := in.Host.call(context.Background(), time.Minute, "sum"); err != nil || got != want {
			t.Errorf("a call sees %x, %v; want %x", got, err, want)
		}
		switch random.IntN(4) {
		case 0:
			_, err = in.Host.call(context.Background(), time.Minute, "trap")
		case 1:
			_, err = in.Host.call(context.Background(), time.Minute, "grow", 3)
		default:
			_, err = in.Host.call(context.Background(), time.Minute, "scribble", stride)
		}
		p.Put(in, err == nil)
	}
}

// TestRandomStarts: what a start draws differs from call to call, unless the
// plugin says that it need not.
func TestRandomStarts(t *testing.T) {
	for policy, same := range map[Policy]bool{PutBackPure: false, PutBackAll: true} {
		e := newEngine(t)
		p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_3"), mib), mib, policy, "init_random"))
		p.Put(take(t, p), true) // what follows is made ahead
		seen := make(map[uint64]bool)
		for range 5 {
			settle(p)
			in := take(t, p)
			seen[in.Host.must(t, "sum")] = true
			p.Put(in, true)
		}
		if same != (len(seen) == 1) {
			t.Errorf("under policy %v five calls saw %d different starts", policy, len(seen))
		}
	}
}

// TestIdleMemoryIsGivenBack sees what is kept, and that it is gone a minute
// after the last call.
func TestIdleMemoryIsGivenBack(t *testing.T) {
	e := newEngine(t)
	program := compile(t, e, fixture(t, "state_40"), 64*mib)
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(e, planOf(program, 64*mib, PutBackPure, "init"))
		defer p.Close()
		for range 6 {
			in := take(t, p)
			p.Put(in, true)
			synctest.Wait()
		}
		if kept := e.idle.used.Load(); kept == 0 {
			t.Fatal("nothing is kept")
		}
		snap := snapOf(p)
		if snap == nil {
			t.Fatal("there is no snapshot")
		}
		time.Sleep(idleTime - time.Second)
		if e.idle.used.Load() == 0 {
			t.Error("it was given back too soon")
		}
		time.Sleep(2 * idleTime)
		synctest.Wait()
		if kept := e.idle.used.Load(); kept != 0 {
			t.Errorf("%d bytes are still kept", kept)
		}
		if refs := snap.refs.Load(); refs != 0 || snapOf(p) != nil {
			t.Errorf("the snapshot is held %d times", refs)
		}
		p.Put(take(t, p), true)
		synctest.Wait()
	})
}

func snapOf(p *Pool[guest]) *snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snap
}

// TestIdleMemoryIsBounded over all pools: the one that was not used for longest
// gives way.
func TestIdleMemoryIsBounded(t *testing.T) {
	const room = 3 * mib // one instance of 2.6 MB, not two, and no snapshots
	e := newEngine(t, func(o *Options) { o.IdleMemory, o.Ahead = room, 1 })
	program := compile(t, e, fixture(t, "state_40"), 64*mib)
	var pools []*Pool[guest]
	for range 4 {
		p := newPool(t, e, planOf(program, 64*mib, PutBackNone, "init"))
		p.Put(take(t, p), true)
		settle(p)
		pools = append(pools, p)
		if used := e.idle.used.Load(); used > room {
			t.Errorf("%d bytes are idle", used)
		}
	}
	for i, p := range pools {
		if idles := p.idles(); idles != (i == len(pools)-1) {
			t.Errorf("pool %d keeps an instance: %v", i, idles)
		}
	}
}

// TestClosedPoolsLeaveNothing counts what instances take outside of Go's heap.
func TestClosedPoolsLeaveNothing(t *testing.T) {
	e := newEngine(t)
	program := compile(t, e, fixture(t, "state_40"), 64*mib)
	leavesNothing(t, func() {
		for range 6 {
			p := NewPool(e, planOf(program, 64*mib, PutBackPure, "init"))
			for range 6 {
				p.Put(take(t, p), true)
				settle(p)
			}
			p.Close()
		}
	})
	if used := e.idle.used.Load(); used != 0 {
		t.Errorf("%d bytes are counted as idle", used)
	}
}

// leavesNothing has something done that is to leave no mappings and files behind. Threads
// that the runtime starts meanwhile have some, but not each time.
func leavesNothing(t *testing.T, do func()) {
	t.Helper()
	do() // what the first time alone needs
	var before, after int
	for range 5 {
		before = mappings(t)
		do()
		if after = mappings(t); after <= before+5 {
			return
		}
	}
	t.Errorf("%d mappings and files before, %d after", before, after)
}

// TestFailingStart: the error comes from the pool's plan, and nothing is kept.
func TestFailingStart(t *testing.T) {
	e := newEngine(t)
	for _, start := range []string{"trap", "spin"} {
		plan := planOf(compile(t, e, fixture(t, "state_3"), mib), mib, PutBackPure, start)
		plan.Time = 20 * time.Millisecond
		p := newPool(t, e, plan)
		testenv.InTime(t, time.Second, func() time.Duration {
			return testenv.Took(func() {
				if _, err := p.Take(t.Context()); err == nil || fmt.Sprint(err)[:9] != "starting:" {
					t.Errorf("%s: got %v", start, err)
				}
			})
		})
	}
}

// BenchmarkReset is what it takes to put an instance back, by itself, after a
// call that wrote to as many pages of 4 KiB.
func BenchmarkReset(b *testing.B) {
	for _, c := range []struct {
		wasm   string
		stride uint64
	}{{"state_3", 32 << 10}, {"state_3", 4 << 10}, {"state_40", 512 << 10}, {"state_40", 128 << 10}, {"state_40", 4 << 10}} {
		benchmarkReset(b, c.wasm, c.stride)
	}
}

func benchmarkReset(b *testing.B, wasm string, stride uint64) {
	b.Helper()
	e := newEngine(b)
	p := newPool(b, e, planOf(compile(b, e, fixture(b, wasm), 64*mib), 64*mib, PutBackPure, "init"))
	p.Put(take(b, p), true)
	settle(p)
	in := take(b, p)
	defer p.Put(in, true)
	size := uint64(in.Host.mod.Memory().Size())
	b.Run(fmt.Sprintf("%d KiB, %d pages written", size>>10, size/stride), func(b *testing.B) {
		scribble := in.Host.mod.ExportedFunction("scribble")
		run := &Run{}
		run.Begin(context.Background(), time.Hour)
		defer run.End()
		var spent time.Duration
		for b.Loop() {
			if _, err := scribble.Call(run, stride); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			in.core.reset()
			spent += time.Since(began)
		}
		b.ReportMetric(float64(spent)/float64(b.N), "ns/reset")
	})
}
