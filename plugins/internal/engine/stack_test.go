package engine

import (
	"testing"

	"github.com/tetratelabs/wazero/api"
)

// TestStackOf: the engine keeps stacks where we look for them.
func TestStackOf(t *testing.T) {
	e := newEngine(t)
	p := newPool(t, e, planOf(compile(t, e, fixture(t, "state_3"), mib), mib, PutBackPure, "init"))
	in := take(t, p)
	defer p.Put(in, true)
	f := in.Host.mod.ExportedFunction("recurse")
	const least = 1 << 10
	before := StackOf(f)
	if before < least || before > maxStack/8 {
		t.Fatalf("a new function has a stack of %d bytes", before)
	}
	if got := StackOf(f, nil, f); got != 2*before {
		t.Errorf("two functions have %d bytes", got)
	}
	recurse(t, f, 20_000)
	if after := StackOf(f); after < 20_000*16 {
		t.Errorf("after 20,000 frames it is %d bytes", after)
	}
}

func recurse(t *testing.T, f api.Function, depth uint64) {
	t.Helper()
	run := &Run{}
	got, err := f.Call(run.under(t.Context(), 1<<40), depth)
	run.End()
	if err != nil || got[0] != depth {
		t.Fatalf("recursing %d deep: %v, %v", depth, got, err)
	}
}

// TestDeepInstancesAreThrownAway for the native stack that they keep.
func TestDeepInstancesAreThrownAway(t *testing.T) {
	e := newEngine(t)
	functions := make(map[api.Module]api.Function)
	plan := planOf(compile(t, e, fixture(t, "state_3"), mib), mib, PutBackPure, "init")
	plan.Stack = func(g guest) int64 { return StackOf(functions[g.mod]) }
	p := newPool(t, e, plan)
	p.Put(take(t, p), true)
	settle(p)
	for depth, again := range map[uint64]bool{10: true, 20_000: false} {
		in := take(t, p)
		f := in.Host.mod.ExportedFunction("recurse")
		functions[in.Host.mod] = f
		recurse(t, f, depth)
		p.Put(in, true)
		settle(p)
		next := take(t, p)
		if (next.core == in.core) != again {
			t.Errorf("after %d frames, %d bytes, it is used again: %v", depth, StackOf(f), !again)
		}
		p.Put(next, true)
		settle(p)
	}
}

func BenchmarkStackOf(b *testing.B) {
	e := newEngine(b)
	p := newPool(b, e, planOf(compile(b, e, fixture(b, "state_3"), mib), mib, PutBackPure, "init"))
	in := take(b, p)
	defer p.Put(in, true)
	f := in.Host.mod.ExportedFunction("recurse")
	b.ReportAllocs()
	for b.Loop() {
		StackOf(f, f, nil)
	}
}
