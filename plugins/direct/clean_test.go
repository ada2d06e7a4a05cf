package direct_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// instanceModes are those in which memory is clean for every call.
var instanceModes = []abi.InstanceMode{abi.InstanceFresh, abi.InstanceReset}

func mode(m abi.InstanceMode) func(*plugins.Module) {
	return func(p *plugins.Module) { p.Manifest.Instance = m }
}

// TestClosedStreamsAreOpenForTheNextCall: what WASI keeps is clean as well.
func TestClosedStreamsAreOpenForTheNextCall(t *testing.T) {
	in := load(t, "leave_stdout")
	for range 5 {
		result, err := in.Call(t.Context(), invocation("{}"))
		if err != nil || result.Text() != "a" {
			t.Fatalf("got %q, %v", result.Text(), err)
		}
	}
}

// TestRandomStart: a start that draws random numbers draws new ones for every
// call, unless the manifest says that it need not.
func TestRandomStart(t *testing.T) {
	for m, same := range map[abi.InstanceMode]bool{abi.InstanceFresh: false, abi.InstanceReset: true} {
		in := load(t, "random_start", mode(m))
		seen := make(map[string]int)
		calls, most := 0, 0
		for began := time.Now(); calls < 20 || same && most < 10 && time.Since(began) < testenv.Patience; calls++ {
			result, err := in.Call(t.Context(), invocation("{}"))
			if err != nil {
				t.Fatal(err)
			}
			seen[result.Text()]++
			most = max(most, seen[result.Text()])
			time.Sleep(time.Millisecond) // for those that are made ahead
		}
		if same && most < 10 || !same && len(seen) != calls {
			t.Errorf("instance = %q: %d calls saw %v", m, calls, seen)
		}
	}
}

// TestRealGuests runs the built-in Read and an example in standard Go in every
// mode, many calls at once, and has none differ from the first.
func TestRealGuests(t *testing.T) {
	guests := map[string]struct {
		tool  string
		calls int
		wasm  func(testing.TB) []byte
	}{"rust": {"Read", 20, rustGuest}, "go": {"Outline", 4, goGuest}}
	for name, g := range guests {
		wasm := g.wasm(t)
		for _, m := range instanceModes {
			t.Run(fmt.Sprintf("%s, %s", name, m), func(t *testing.T) {
				in, err := newRunner(t).Load(t.Context(), moduleOf(wasm, mode(m), func(m *plugins.Module) {
					m.Limits = plugins.DefaultLimits
				}))
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close(context.Background())
				first, err := in.Call(t.Context(), reading(g.tool))
				if err != nil || first.IsError {
					t.Fatal(first.Text(), err)
				}
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						for range g.calls {
							again, err := in.Call(t.Context(), reading(g.tool))
							if err != nil || again.Text() != first.Text() {
								t.Errorf("got %.80q, %v", again.Text(), err)
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

// TestNoneAhead keeps no instances.
func TestNoneAhead(t *testing.T) {
	r := direct.New(direct.Options{CacheDir: testenv.CompileCache(), Ahead: -1})
	defer r.Close(context.Background())
	in, err := r.Load(t.Context(), moduleOf(fixture(t, "counter")))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close(context.Background())
	for range 5 {
		if result, err := in.Call(t.Context(), invocation("{}")); err != nil || result.Text() != "1" {
			t.Fatalf("got %q, %v", result.Text(), err)
		}
	}
}
