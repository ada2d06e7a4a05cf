package runnertest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// testLargeBody passes a body through a guest that is larger than any buffer on
// the way.
func testLargeBody(t *testing.T, s *Suite) {
	t.Helper()
	size := int64(256 << 20)
	if !testenv.Thorough() {
		size = 64 << 20 // still twice what it may take
	}
	for name, known := range map[string]int64{"size known": size, "size unknown": -1} {
		t.Run(name, func(t *testing.T) {
			g := s.load(t, "drain", patient)
			var read, closed atomic.Int64
			inv := g.asking(Answering(abi.Answer{OK: struct{}{}, Body: &countedBody{size, &read, &closed}, Size: known}))
			before := inUse()
			result, err := g.Call(t.Context(), inv)
			if err != nil || result.Text() != "ok" {
				t.Fatalf("got %q, %v", result.Text(), err)
			}
			if more := int64(inUse()) - int64(before); more > 32<<20 {
				t.Errorf("it took %d MiB", more>>20)
			}
			if read.Load() != size || closed.Load() != 1 {
				t.Errorf("%d bytes were read; it was closed %d times", read.Load(), closed.Load())
			}
		})
	}
}

// few lets a guest make 100 capability calls, and gives it time for many more.
func few(m *plugins.Module) { m.Limits.CapabilityCalls = 100 }

// flood has submit_flood make its calls until one of them is done at least: none
// is where the guest has asked for all of them, and is ended, before the first.
func (g *guest) flood(t *testing.T, do plugins.CapabilityFunc, says ...string) {
	t.Helper()
	for range 100 {
		var done atomic.Int64
		_, err := g.Call(t.Context(), g.asking(func(ctx context.Context, r abi.Request) (abi.Answer, error) {
			done.Add(1)
			return do(ctx, r)
		}))
		WantCode(t, err, abi.CodeLimit, says...)
		if n := done.Load(); n > int64(Limits.CapabilityCalls) {
			t.Errorf("%d capability calls were done", n)
		} else if n > 0 {
			return
		}
	}
	t.Fatal("no capability call was done")
}

// testUnreadBody has bodies without end that nobody reads: the host must not read
// them for nobody either, and close them.
func testUnreadBody(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "submit_flood", patient, few)
	var made, read, closed atomic.Int64
	g.flood(t, func(context.Context, abi.Request) (abi.Answer, error) {
		made.Add(1)
		return abi.Answer{OK: struct{}{}, Body: &countedBody{1 << 40, &read, &closed}, Size: -1}, nil
	})
	eventually(t, "not every body is closed once", func() bool { return closed.Load() == made.Load() })
	if n := read.Load(); n > 64<<20 {
		t.Errorf("%d MiB were read for nobody", n>>20)
	}
}

// testUnreadAnswers counts the answers that the host holds for a guest that makes
// calls and reads nothing.
func testUnreadAnswers(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "submit_flood", patient)
	var held, most atomic.Int64
	g.flood(t, func(context.Context, abi.Request) (abi.Answer, error) {
		n := held.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		return abi.Answer{OK: struct{}{}, Body: &heldBody{Reader: strings.NewReader("x"), held: &held}, Size: 1}, nil
	}, "capability_calls = 1000")
	if n := most.Load(); n > 32 {
		t.Errorf("%d answers were held at once", n)
	}
	eventually(t, "answers are held after the call", func() bool { return held.Load() == 0 })
}

// testEndlessCalls has a guest that is refused and goes on. Long before its time
// is up it must be gone, and with it what it took.
func testEndlessCalls(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "submit_endless", patient, few)
	before := inUse()
	peak := before
	ended := background(t.Context(), g, g.asking(Echoing("x")))
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(testenv.Patience)
	for {
		select {
		case err := <-ended:
			WantCode(t, err, abi.CodeLimit, "capability_calls = 100")
			if more := max(peak, inUse()) - before; more > 128<<20 {
				t.Errorf("the host took %d MiB for it", more>>20)
			}
			return
		case <-tick.C:
			peak = max(peak, inUse())
		case <-late:
			t.Fatal("the guest goes on")
		}
	}
}
