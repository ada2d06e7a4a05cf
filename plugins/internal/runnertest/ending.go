package runnertest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// testClosing closes module and runner while a guest waits for the host.
func testClosing(t *testing.T, s *Suite) {
	t.Helper()
	r := s.New(t)
	g := s.open(t, r, "pass_through", patient)
	inside, release := make(chan struct{}), make(chan struct{})
	ended := background(t.Context(), g, g.asking(func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		close(inside)
		<-release
		return Echoing("late")(ctx, r)
	}))
	<-inside
	if err := errors.Join(g.Close(t.Context()), r.Close(t.Context())); err != nil {
		t.Error(err)
	}
	_, err := g.Call(t.Context(), g.invocation("{}"))
	WantCode(t, err, abi.CodeCancelled, "being unloaded")
	if s.ClosingEndsCalls {
		WantCode(t, <-ended, abi.CodeCancelled, "unloaded")
		close(release)
		return
	}
	close(release)
	if err := <-ended; err != nil {
		t.Errorf("the call under way: %v", err)
	}
}

// testNothingLeaks makes calls of every fate and then closes everything.
func testNothingLeaks(t *testing.T, s *Suite) {
	t.Helper()
	before := runtime.NumGoroutine()
	r := s.New(t)
	endless := []string{"spin", "start_spin", "initialize_spin", "log_flood", "submit_flood", "submit_endless"}
	for _, name := range []string{
		"ok", "echo", "counter", "grow", "spin", "start_spin", "initialize_spin", "trap", "trap_start", "exit_zero", "log_flood",
		"pass_through", "read_answer", "submit_flood", "submit_endless", "dirty", "request_at_start",
	} {
		g := s.open(t, r, name, func(m *plugins.Module) {
			if slices.Contains(endless, name) {
				m.Limits.Time = 20 * time.Millisecond
			}
		})
		for range 3 {
			_, _ = g.Call(t.Context(), g.asking(Echoing("hello"))) // some fail, as they should
		}
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
		_, err := g.Call(t.Context(), g.invocation("{}"))
		WantCode(t, err, abi.CodeCancelled, "being unloaded")
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	eventually(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
	if t.Failed() {
		buf := make([]byte, 1<<16)
		t.Logf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
	}
}
