package runnertest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

func testEcho(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "echo", patient)
	for _, size := range []int{0, 1, 100, 200_000} {
		input := `{"s":"` + strings.Repeat("x", size) + `"}`
		result, err := g.Call(t.Context(), g.invocation(input))
		if err != nil {
			t.Fatal(err)
		}
		if result.Text() != input || result.ToolUseID != "toolu_1" {
			t.Errorf("%d bytes: got %.60q for %q", size, result.Text(), result.ToolUseID)
		}
	}
}

// testBadCalls has one guest for each way to break a call. Every one must fail by
// itself, within its limit, while a sound plugin of the same runner goes on
// answering.
func testBadCalls(t *testing.T, s *Suite) {
	t.Helper()
	const soon = 100 * time.Millisecond
	tests := map[string]BadCall{
		"spin":            {abi.CodeTimeout, []string{"100ms", "limit time"}},
		"start_spin":      {abi.CodeTimeout, []string{"100ms", "limit time"}},
		"initialize_spin": {abi.CodeTimeout, []string{"100ms", "limit time"}},
		"trap":            {abi.CodeTrap, []string{"unreachable"}},
		"trap_start":      {abi.CodeTrap, []string{"while starting", "unreachable"}},
		"exit_zero":       {abi.CodeTrap, []string{"exited", "before it answered", "with code 0"}},
	}
	maps.Copy(tests, s.BadCalls)
	r := s.runner(t)
	sound := s.loadInto(t, r, "ok", patient)
	answers := func(t *testing.T, when string) {
		t.Helper()
		if result, err := sound.Call(t.Context(), sound.invocation("{}")); err != nil || result.Text() != "ok" {
			t.Errorf("%s, the sound plugin answered %q, %v", when, result.Text(), err)
		}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			change := patient
			if test.Code == abi.CodeTimeout {
				change = func(m *plugins.Module) { m.Limits.Time = soon } // which is to end it
			}
			g := s.loadInto(t, r, name, change)
			testenv.InTime(t, soon+slack, func() time.Duration {
				began := time.Now()
				ended := background(t.Context(), g, g.asking(Echoing("hello")))
				answers(t, "beside it")
				WantCode(t, <-ended, test.Code, test.Says...)
				took := time.Since(began)
				answers(t, "after it")
				return took
			})
		})
	}
}

func testUnloadable(t *testing.T, s *Suite) {
	t.Helper()
	ok := s.Guest(t, "ok")
	for name, test := range map[string]struct {
		wasm []byte
		says []string
	}{
		"not wasm":  {[]byte("#!/bin/sh\necho hello\n"), []string{"not a WebAssembly binary"}},
		"empty":     {nil, []string{"not a WebAssembly binary"}},
		"truncated": {ok[:len(ok)-20], []string{"data section", "past the end"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.runner(t)
			_, err := r.Load(t.Context(), Module(r.ABI(), "ok", test.wasm))
			WantCode(t, err, abi.CodeLoad, append(test.says, "the module is refused")...)
		})
	}
}

// testCleanMemory makes calls one by one and side by side, with instances of
// which the manifest says that they may be put back, and without.
func testCleanMemory(t *testing.T, s *Suite) {
	t.Helper()
	for _, mode := range []abi.InstanceMode{abi.InstanceFresh, abi.InstanceReset} {
		t.Run(string(mode), func(t *testing.T) {
			g := s.load(t, "counter", patient, func(m *plugins.Module) { m.Manifest.Instance = mode })
			first := func(calls int) {
				for range calls {
					result, err := g.Call(t.Context(), g.invocation("{}"))
					if err != nil || result.Text() != "1" {
						t.Errorf("got %q, %v", result.Text(), err)
						return
					}
				}
			}
			first(50)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { first(10) })
			}
			wg.Wait()
		})
	}
}

func testMemoryLimit(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "grow", patient)
	result, err := g.Call(t.Context(), g.invocation("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if pages, want := len(result.Text()), int(Limits.Memory>>16); pages != want {
		t.Errorf("the guest has %d pages; its limit is %d", pages, want)
	}
}

// testRecycledMemory makes calls that end well and calls that are cancelled
// anywhere on the way. Each fills all its memory, which later ones get; the guest
// traps where it finds anything in it.
func testRecycledMemory(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "dirty", patient)
	body := strings.Repeat("z", 70_000)
	var asked atomic.Int32
	inv := g.asking(func(context.Context, abi.Request) (abi.Answer, error) {
		time.Sleep(time.Millisecond)
		if asked.Add(1)%2 == 0 {
			return answer(body, -1), nil
		}
		return answer(body, int64(len(body))), nil
	})
	var wg sync.WaitGroup
	var sound atomic.Int32
	for range 4 {
		wg.Go(func() {
			for i := range 30 {
				ctx, cancel := context.WithCancel(t.Context())
				if i%2 == 1 {
					time.AfterFunc(time.Duration(i)*200*time.Microsecond, cancel)
				}
				_, err := g.Call(ctx, inv)
				cancel()
				switch {
				case err == nil:
					sound.Add(1)
				case abi.CodeOf(err) != abi.CodeCancelled:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := sound.Load(); n < 60 {
		t.Errorf("only %d calls came to their end", n)
	}
}

func testCancelled(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "spin", patient)
	testenv.InTime(t, slack, func() time.Duration {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user wrote something new")) })
		return testenv.Took(func() {
			_, err := g.Call(ctx, g.invocation("{}"))
			WantCode(t, err, abi.CodeCancelled, "cancelled", "the user wrote something new")
		})
	})
}

func testDeadline(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "spin", patient)
	testenv.InTime(t, slack, func() time.Duration {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return testenv.Took(func() {
			_, err := g.Call(ctx, g.invocation("{}"))
			WantCode(t, err, abi.CodeTimeout, "time limit")
		})
	})
}

func testParallel(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "read_answer", patient, func(m *plugins.Module) { m.Limits.Memory = 8 << 20 })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, err := g.Call(context.Background(), g.asking(Echoing("hello"))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// testNested makes a call of a plugin within a capability call of the same one.
func testNested(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "pass_through", patient)
	depth := 0
	inv := g.invocation("{}")
	inv.Capability = func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		if depth++; depth == 20 { // more than runners run side by side
			return Echoing("the bottom")(ctx, r)
		}
		result, err := g.Call(ctx, inv)
		if err != nil {
			return abi.Answer{}, err
		}
		return Echoing(result.Text())(ctx, r)
	}
	result, err := g.Call(t.Context(), inv)
	if err != nil || result.Text() != "the bottom" {
		t.Errorf("got %q, %v", result.Text(), err)
	}
}

// testStartServesNoCall starts a module while another one's call is under way:
// its start function must not reach that call's gate.
func testStartServesNoCall(t *testing.T, s *Suite) {
	t.Helper()
	parent, child := s.load(t, "pass_through", patient), s.load(t, "request_at_start", patient)
	var served atomic.Int32
	var nested error
	result, err := parent.Call(t.Context(), parent.asking(func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		if served.Add(1) == 1 {
			_, nested = child.Call(ctx, child.invocation("{}"))
		}
		return Echoing("done")(ctx, r)
	}))
	if err != nil || result.Text() != "done" {
		t.Errorf("the call itself: %q, %v", result.Text(), err)
	}
	WantCode(t, nested, abi.CodeProtocol, "start function")
	if n := served.Load(); n != 1 {
		t.Errorf("the gate of one capability call served %d", n)
	}
}

func (g *guest) question() plugins.Question {
	return plugins.Question{Tool: &g.tool, Input: json.RawMessage("{}")}
}

func testAssess(t *testing.T, s *Suite) {
	t.Helper()
	t.Run("answers", func(t *testing.T) {
		g := s.load(t, "assess", patient)
		a, err := g.Assess(t.Context(), g.question())
		if err != nil {
			t.Fatal(err)
		}
		if a.Invalid == nil || a.Invalid.Code != 7 || a.ReadOnly == nil || !*a.ReadOnly {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("touches", func(t *testing.T) {
		g := s.load(t, "assess_touches", patient)
		a, err := g.Assess(t.Context(), g.question())
		if want := []abi.Touch{{Path: "a"}, {Path: "/b", Write: true}}; err != nil || !slices.Equal(a.Touches, want) {
			t.Errorf("got %+v, %v", a.Touches, err)
		}
	})
	t.Run("endless", func(t *testing.T) {
		g := s.load(t, "assess_spin")
		_, err := g.Assess(t.Context(), g.question())
		WantCode(t, err, abi.CodeTimeout, "limit of 250ms", "limit time")
	})
}

func testNoAssess(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "ok", patient)
	a, err := g.Assess(t.Context(), g.question())
	if err != nil || !reflect.DeepEqual(a, abi.Assessment{}) {
		t.Errorf("got %+v, %v", a, err)
	}
}
