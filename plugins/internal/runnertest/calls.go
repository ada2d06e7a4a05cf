package runnertest

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

func testEcho(t *testing.T, s *Suite) {
	t.Helper()
	in := s.load(t, "echo", patient)
	for _, size := range []int{0, 1, 100, 200_000} {
		input := `{"s":"` + strings.Repeat("x", size) + `"}`
		result, err := in.Call(t.Context(), s.invocation(input))
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
	tests := map[string]struct {
		code abi.Code
		says []string
	}{
		"spin":       {abi.CodeTimeout, []string{"300ms", "limit time"}},
		"start_spin": {abi.CodeTimeout, []string{"300ms", "limit time"}},
		"trap":       {abi.CodeTrap, []string{"unreachable"}},
		"exit_zero":  {abi.CodeTrap, []string{"exited with code 0"}},
	}
	r := s.runner(t)
	sound := s.loadInto(t, r, "ok")
	for name, test := range tests {
		if !s.has(t, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			in := s.loadInto(t, r, name)
			began := time.Now()
			_, err := in.Call(t.Context(), s.invocation("{}"))
			wantCode(t, err, test.code, test.says...)
			if took := time.Since(began); took > Limits.Time+s.Slack {
				t.Errorf("it took %v", took)
			}
			if result, err := sound.Call(t.Context(), s.invocation("{}")); err != nil || result.Text() != "ok" {
				t.Errorf("the sound plugin then answered %q, %v", result.Text(), err)
			}
		})
	}
}

func testUnloadable(t *testing.T, s *Suite) {
	t.Helper()
	ok := s.Guest(t, "ok")
	for name, wasm := range map[string][]byte{
		"not wasm":  []byte("#!/bin/sh\necho hello\n"),
		"empty":     nil,
		"truncated": ok[:len(ok)-20],
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.runner(t).Load(t.Context(), s.module(wasm))
			wantCode(t, err, abi.CodeLoad)
		})
	}
}

func testCleanMemory(t *testing.T, s *Suite) {
	t.Helper()
	in := s.load(t, "counter")
	for range 20 {
		result, err := in.Call(t.Context(), s.invocation("{}"))
		if err != nil || result.Text() != "1" {
			t.Fatalf("got %q, %v", result.Text(), err)
		}
	}
}

func testMemoryLimit(t *testing.T, s *Suite) {
	t.Helper()
	result, err := s.load(t, "grow").Call(t.Context(), s.invocation("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if pages, most := len(result.Text()), int(Limits.Memory>>16); pages == 0 || pages > most {
		t.Errorf("the guest has %d pages; its limit is %d", pages, most)
	}
}

// testRecycledMemory makes calls that end well and calls that are cancelled
// anywhere on the way. Each fills all its memory; the guest traps where it finds
// anything in it.
func testRecycledMemory(t *testing.T, s *Suite) {
	t.Helper()
	in := s.load(t, "dirty", patient)
	inv := s.invocation("{}")
	inv.Capability = func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		time.Sleep(time.Millisecond)
		return echoing(strings.Repeat("z", 70_000))(ctx, r)
	}
	var wg sync.WaitGroup
	var sound atomic.Int32
	for range 4 {
		wg.Go(func() {
			for i := range 30 {
				ctx, cancel := context.WithCancel(t.Context())
				if i%2 == 1 {
					time.AfterFunc(time.Duration(i)*200*time.Microsecond, cancel)
				}
				_, err := in.Call(ctx, inv)
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
	in := s.load(t, "spin", patient)
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user wrote something new")) })
	began := time.Now()
	_, err := in.Call(ctx, s.invocation("{}"))
	wantCode(t, err, abi.CodeCancelled, "the user wrote something new")
	if took := time.Since(began); took > s.Slack {
		t.Errorf("it took %v", took)
	}
}

func testLogFlood(t *testing.T, s *Suite) {
	t.Helper()
	in := s.load(t, "log_flood", patient)
	var lines []string
	inv := s.invocation("{}")
	inv.Report = func(p abi.ProgressHead) { lines = append(lines, p.Log.Message) }
	result, err := in.Call(t.Context(), inv)
	if err != nil || result.Text() != "ok" {
		t.Fatalf("got %q, %v", result.Text(), err)
	}
	if len(lines) != Limits.LogLines+1 {
		t.Fatalf("got %d lines", len(lines))
	}
	if last := lines[len(lines)-1]; !strings.Contains(last, "more") || !strings.Contains(last, "log_lines = 100") {
		t.Errorf("the last line is %q", last)
	}
}

func testParallel(t *testing.T, s *Suite) {
	t.Helper()
	in := s.load(t, "read_answer", func(m *plugins.Module) { m.Limits.Memory = 8 << 20; m.Limits.Time = 20 * time.Second })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			inv := s.invocation("{}")
			inv.Capability = echoing("hello")
			for range 30 {
				if _, err := in.Call(context.Background(), inv); err != nil {
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
	in := s.load(t, "pass_through", patient)
	inv := s.invocation("{}")
	depth := 0
	inv.Capability = func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		if depth++; depth == 20 { // more than runners run side by side
			return echoing("the bottom")(ctx, r)
		}
		result, err := in.Call(ctx, inv)
		if err != nil {
			return abi.Answer{}, err
		}
		return echoing(result.Text())(ctx, r)
	}
	result, err := in.Call(t.Context(), inv)
	if err != nil || !strings.Contains(result.Text(), "the bottom") {
		t.Errorf("got %q, %v", result.Text(), err)
	}
}

// testStartServesNoCall starts a module while another one's call is under way:
// its start function must not reach that call's gate.
func testStartServesNoCall(t *testing.T, s *Suite) {
	t.Helper()
	parent, child := s.load(t, "pass_through"), s.load(t, "request_at_start")
	var served atomic.Int32
	var nested error
	inv := s.invocation("{}")
	inv.Capability = func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		if served.Add(1) == 1 {
			_, nested = child.Call(ctx, s.invocation("{}"))
		}
		return echoing("done")(ctx, r)
	}
	result, err := parent.Call(t.Context(), inv)
	if err != nil || result.Text() != "done" {
		t.Errorf("the call itself: %q, %v", result.Text(), err)
	}
	if nested == nil {
		t.Error("the start function was answered")
	}
	if n := served.Load(); n != 1 {
		t.Errorf("the gate of one capability call served %d", n)
	}
}

func testAssess(t *testing.T, s *Suite) {
	t.Helper()
	q := plugins.Question{Tool: s.invocation("{}").Tool, Input: json.RawMessage("{}")}
	t.Run("answers", func(t *testing.T) {
		a, err := s.load(t, "assess", patient).Assess(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if a.Invalid == nil || a.Invalid.Code != 7 || a.ReadOnly == nil || !*a.ReadOnly {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("absent", func(t *testing.T) {
		a, err := s.load(t, "ok").Assess(t.Context(), q)
		if err != nil || a != (abi.Assessment{}) {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("endless", func(t *testing.T) {
		_, err := s.load(t, "assess_spin").Assess(t.Context(), q)
		wantCode(t, err, abi.CodeTimeout, "limit time")
	})
}

// testNothingLeaks makes calls of every fate and then closes everything.
func testNothingLeaks(t *testing.T, s *Suite) {
	t.Helper()
	before := runtime.NumGoroutine()
	r := s.New(t)
	for _, name := range []string{"ok", "spin", "trap", "exit_zero", "pass_through", "read_answer", "submit_flood", "counter"} {
		wasm := s.Guest(t, name)
		if wasm == nil {
			continue
		}
		in, err := r.Load(t.Context(), s.module(wasm))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			inv := s.invocation("{}")
			inv.Capability = echoing("hello")
			_, _ = in.Call(t.Context(), inv) // some fail, as they should
		}
		if err := in.Close(t.Context()); err != nil {
			t.Error(err)
		}
		_, err = in.Call(t.Context(), s.invocation("{}"))
		wantCode(t, err, abi.CodeCancelled, "being unloaded")
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	eventually(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
	if t.Failed() {
		buf := make([]byte, 1<<16)
		t.Logf("%s", buf[:runtime.Stack(buf, true)])
	}
}
