package direct_test

import (
	"context"
	"io"
	"math"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
)

// TestLargeRequests makes 32 capability calls of 16 MiB each that stay under
// way: those that do not fit into what one call may hold of the host's memory
// are refused.
func TestLargeRequests(t *testing.T) {
	in := load(t, "submit_large", func(m *plugins.Module) {
		m.Limits.Memory = 24 << 20
	})
	inv := invocation("{}")
	var made atomic.Int32
	var held atomic.Uint64
	inv.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
		made.Add(1)
		held.Store(max(held.Load(), reachable()))
		<-ctx.Done()
		return abi.Answer{}, context.Cause(ctx)
	}
	// The guest waits for the last one, which is refused at once.
	result, err := in.Call(t.Context(), inv)
	if err != nil || result.Text() != "ok" {
		t.Fatalf("%v, %v", result, err)
	}
	if n := made.Load(); n < 2 || n > 4 {
		t.Errorf("%d calls of 16 MiB were made at once; 4 of them fit into 64 MiB", n)
	}
	if held.Load() > 256<<20 {
		t.Errorf("the host held %d MiB", held.Load()>>20)
	}
}

// reachable is how many bytes of Go's heap are in use. A collection also counts what was
// made while it ran, such as the requests that the guest goes on submitting and that are
// refused, so the least of three says it.
func reachable() uint64 {
	least := uint64(math.MaxUint64)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for range 3 {
		runtime.GC()
		metrics.Read(live)
		least = min(least, live[0].Value.Uint64())
	}
	return least
}

// TestRequestIsWhatWasSubmitted, whatever the guest does to its memory next: it
// writes over the request before that is looked at.
func TestRequestIsWhatWasSubmitted(t *testing.T) {
	in := load(t, "submit_overwritten")
	inv := invocation("{}")
	inv.Capability = func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		if len(r.Parts) != 1 {
			t.Fatalf("a request of %d parts", len(r.Parts))
		}
		return runnertest.Echoing(r.Name+string(r.Args)+string(r.Parts[0].Data))(ctx, r)
	}
	result, err := in.Call(t.Context(), inv)
	if err != nil || result.Text() != "test.echo{}before" {
		t.Errorf("got %q, %v", result.Text(), err)
	}
}

// TestBodyThatPanicsWhenMeasured fails its own call and nothing else.
func TestBodyThatPanicsWhenMeasured(t *testing.T) {
	in := load(t, "pass_through")
	inv := invocation("{}")
	inv.Capability = runnertest.Answering(abi.Answer{OK: struct{}{}, Body: panicsInLen{}})
	_, err := in.Call(t.Context(), inv)
	runnertest.WantCode(t, err, abi.CodeInternal, "panicked")
	inv.Capability = runnertest.Echoing("still there")
	if r, err := in.Call(t.Context(), inv); err != nil || r.Text() != "still there" {
		t.Errorf("the next call: %v, %v", r, err)
	}
}

type panicsInLen struct{ io.ReadCloser }

func (panicsInLen) Len() int { panic("in Len") }

func (panicsInLen) Close() error { return nil }
