package engine

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/internal/testenv"
)

// large is a guest with that much memory and data in it, whose export "fill"
// writes to all of it.
func large(memory uint32, data []byte) []byte {
	var m wg.Module
	m.Export("memory", wg.Memory, m.Memory(wg.AtLeast(memory/pageSize)))
	if len(data) > 0 {
		m.Data(new(wg.Code).I32(pageSize), data)
	}
	fill := new(wg.Code).I32(0).I32(0x5a).I32(int32(memory)).MemoryFill()
	m.Export("fill", wg.Function, m.Func(wg.Sig(nil, nil), fill))
	peek := new(wg.Code).LocalGet(0).Access(wg.I32Load8U, 0, 0)
	m.Export("peek", wg.Function, m.Func(wg.Sig([]wg.ValType{wg.I32}, []wg.ValType{wg.I32}), peek))
	return m.Bytes()
}

// TestLargeMemoriesDoNotHoldUpOthers has ten guests at once that write to all of
// their 64 MiB, again and again, and another one that does little.
func TestLargeMemoriesDoNotHoldUpOthers(t *testing.T) {
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, large(64*mib, nil), 64*mib), 64*mib, PutBackPure, ""))
	small := newPool(t, e, planOf(compile(t, e, fixture(t, "state_3"), mib), mib, PutBackPure, "init"))
	most := 100 * time.Millisecond
	if testenv.Race {
		most = testenv.Patience
	}
	testenv.InTime(t, most, func() time.Duration { return besideLarge(t, p, small) })
}

// besideLarge is how long nine of ten calls of a small guest take at most, beside
// ten large ones.
func besideLarge(t *testing.T, p, small *Pool[guest]) time.Duration {
	t.Helper()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 3 {
				in, err := p.Take(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				_, err = in.Host.call(context.Background(), time.Minute, "fill")
				p.Put(in, err == nil)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	var took []time.Duration
	for busy := true; busy; {
		began := time.Now()
		in := take(t, small)
		in.Host.must(t, "peek", 0)
		small.Put(in, true)
		select {
		case <-ended:
			busy = false
		case <-time.After(time.Millisecond):
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	most := took[(len(took)-1)*9/10]
	t.Logf("%d calls, nine of ten in %v, the slowest in %v", len(took), most, took[len(took)-1])
	return most
}

// TestLargeMemoriesArePutBack without a copy of what they hold on Go's heap, and
// without keeping what a call wrote.
func TestLargeMemoriesArePutBack(t *testing.T) {
	testenv.Permitted(t, testenv.Linux) // others map no snapshots
	e := newEngine(t)
	data := bytes.Repeat([]byte("0123456789abcdef"), mib/16)
	p := newPool(t, e, planOf(compile(t, e, large(32*mib, data), 32*mib), 32*mib, PutBackPure, ""))
	for range 2 { // the first one is what the snapshot is taken of
		p.Put(take(t, p), true)
		settle(p)
	}
	for i := range 5 {
		in := take(t, p)
		m := in.core.parts[0].memory
		if in.core.snap == nil || in.core.snap.parts[0].content.Load().bytes != nil || !m.mapped {
			t.Fatal("it is not mapped from a snapshot")
		}
		if n := resident(t, m.buf); n > 2*mib/4096 {
			t.Errorf("call %d: an instance that is ready has %d pages of its own", i, n)
		}
		if !bytes.Equal(m.buf[pageSize:][:len(data)], data) || !isZero(m.buf[pageSize+len(data):]) {
			t.Fatalf("call %d finds memory as it should not be", i)
		}
		in.Host.must(t, "fill")
		p.Put(in, true)
		settle(p)
	}
}

// TestLargeMemoriesThatCannotBeMapped are made anew for each call.
func TestLargeMemoriesThatCannotBeMapped(t *testing.T) {
	c := &core{parts: []part{{memory: &linear{buf: make([]byte, maxCopied+pageSize)}}}}
	if s, why := c.take(&idle{limit: 1 << 40}); s != nil || why == "" {
		t.Error("they are copied")
	}
}

// TestMuchIsNotNoted: a snapshot is no second copy of a memory that is full.
func TestMuchIsNotNoted(t *testing.T) {
	const size = maxNoted + mib
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, large(size, nil), size), size, PutBackAll, "fill"))
	p.Put(take(t, p), true)
	settle(p)
	if !p.fixed || snapOf(p) != nil {
		t.Error("there is a snapshot")
	}
}

// TestSnapshotsAreIdleMemory: where there is no room for one there is none, for
// now.
func TestSnapshotsAreIdleMemory(t *testing.T) {
	e := newEngine(t, func(o *Options) { o.IdleMemory = mib })
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_40"), 64*mib), 64*mib, PutBackPure, "init"))
	p.Put(take(t, p), true)
	settle(p)
	if p.fixed || snapOf(p) != nil || e.idle.used.Load() != 0 {
		t.Errorf("there is a snapshot, and %d bytes are idle", e.idle.used.Load())
	}
}

// TestKeptTailsAreIdleMemory: what is cleared to be grown into again counts.
func TestKeptTailsAreIdleMemory(t *testing.T) {
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_3"), 64*mib), 64*mib, PutBackPure, "init"))
	p.Put(take(t, p), true)
	settle(p)
	const start, most = 4, maxCleared / pageSize
	for _, test := range []struct{ grow, kept uint64 }{{17, 17}, {1, 17}, {most, most}, {2, most}, {most + 1, 0}, {3, 3}} {
		in := take(t, p)
		in.Host.must(t, "grow", test.grow)
		p.Put(in, true)
		settle(p)
		if want := int64(start+test.kept) * pageSize; in.size != want && in.core.parts[0].memory.reserved {
			t.Errorf("after growing by %d pages %d bytes are idle; want %d", test.grow, in.size, want)
		}
	}
}

// TestFailedStartsLeaveNothing: memory is given back where no instance comes to
// be that could be closed.
func TestFailedStartsLeaveNothing(t *testing.T) {
	var trap, outside wg.Module
	trap.Memory(wg.AtLeast(16))
	trap.Start(trap.Func(wg.Sig(nil, nil), new(wg.Code).I32(0).I32(1).I32(mib).MemoryFill().Op(wg.Unreachable)))
	outside.Memory(wg.AtLeast(1))
	outside.Data(new(wg.Code).I32(2*pageSize), []byte("outside"))
	for name, m := range map[string]*wg.Module{"the start function traps": &trap, "data outside of memory": &outside} {
		e := newEngine(t)
		p := newPool(t, e, planOf(compile(t, e, m.Bytes(), 16*mib), 16*mib, PutBackPure, ""))
		leavesNothing(t, func() {
			for range 50 {
				if _, err := p.Take(t.Context()); err == nil {
					t.Fatalf("%s: it starts", name)
				}
			}
		})
		if e.alive != 0 {
			t.Errorf("%s: %d instances are counted", name, e.alive)
		}
	}
}

// TestMemoryThatGrewFarIsThrownAway with its instance.
func TestMemoryThatGrewFarIsThrownAway(t *testing.T) {
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_3"), 64*mib), 64*mib, PutBackPure, "init"))
	p.Put(take(t, p), true)
	settle(p)
	for pages, again := range map[uint64]bool{maxTaken / pageSize: true, maxTaken/pageSize + 1: false} {
		p.shrink()
		settle(p)
		p.Put(take(t, p), true)
		settle(p)
		in := take(t, p)
		c := in.core
		in.Host.must(t, "grow", pages)
		in.Host.must(t, "scribble", 4096)
		p.Put(in, true)
		settle(p)
		next := take(t, p)
		if (next.core == c) != again {
			t.Errorf("after growing by %d pages it is used again: %v", pages, !again)
		}
		if got := next.Host.mod.Memory().Size(); got != 4*pageSize {
			t.Errorf("the next memory has %d bytes", got)
		}
		p.Put(next, true)
	}
}

// TestLargeModulesAreRefused, unless they come with the host.
func TestLargeModulesAreRefused(t *testing.T) {
	e := newEngine(t, func(o *Options) { o.MaxModule = mib })
	s := sourceOf(large(4*mib, make([]byte, 2*mib)))
	s.MaxMemory = 4 * mib
	_, err := e.Compile(t.Context(), s)
	if abi.CodeOf(err) != abi.CodeLoad || !strings.Contains(err.Error(), "over the host's limit of 1") {
		t.Errorf("got %v", err)
	}
	s.Trusted = true
	program, err := e.Compile(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOthersRunBetweenPieces on the only processor.
func TestOthersRunBetweenPieces(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var turns atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			turns.Add(1)
			runtime.Gosched()
		}
	}()
	for turns.Load() == 0 {
		runtime.Gosched() // until it runs
	}
	const pieces = 20
	b := make([]byte, pieces*stretch)
	for name, do := range map[string]func(){"wipe": func() { wipe(b) }, "transfer": func() { transfer(b, b) }} {
		before := turns.Load()
		do()
		if n := turns.Load() - before; n < pieces-2 {
			t.Errorf("%s of %d pieces let others run %d times", name, pieces, n)
		}
	}
}

func TestPieces(t *testing.T) {
	for _, size := range []int{0, 1, stretch, stretch + 1, 3*stretch - 1} {
		from := bytes.Repeat([]byte{7}, size)
		to := make([]byte, size)
		transfer(to, from)
		if !bytes.Equal(to, from) {
			t.Errorf("%d bytes are not copied", size)
		}
		if wipe(to); !isZero(to) {
			t.Errorf("%d bytes are not cleared", size)
		}
	}
}
