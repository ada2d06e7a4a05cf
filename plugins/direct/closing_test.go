package direct_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
)

// TestClosingUnderACall closes module and runner while a guest runs: it goes on in
// memory that is its own until it ends.
func TestClosingUnderACall(t *testing.T) {
	for name, change := range map[string]func(*plugins.Module){"reset": func(*plugins.Module) {}, "kept": kept} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			in, err := r.Load(t.Context(), moduleOf(fixture(t, "submit_spin"), change))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var session plugins.Session
			begun, ended := make(chan struct{}), make(chan error, 1)
			inv := invocation("{}")
			inv.Session = &session
			inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
				close(begun)
				return abi.Answer{OK: struct{}{}}, nil
			}
			go func() {
				_, err := in.Call(ctx, inv)
				ended <- err
			}()
			<-begun
			late, over := context.WithCancel(t.Context())
			over()
			if err := session.Close(late); (err != nil) != (name == "kept") {
				t.Errorf("closing the session: %v", err)
			}
			if err := errors.Join(in.Close(late), r.Close(late)); err != nil {
				t.Error(err)
			}
			time.Sleep(50 * time.Millisecond)
			cancel(errors.New("that is enough"))
			runnertest.WantCode(t, <-ended, abi.CodeCancelled, "that is enough")
			_, err = in.Call(t.Context(), invocation("{}"))
			runnertest.WantCode(t, err, abi.CodeCancelled, "being unloaded")
		})
	}
}

// TestSessionsClosedUnderCallsLeaveNothing: the call that was too long ends what
// was kept for it. A thread that the runtime starts meanwhile leaves mappings, but not
// each time.
func TestSessionsClosedUnderCallsLeaveNothing(t *testing.T) {
	in := load(t, "pass_through", kept)
	closedUnderACall(t, in)
	var before, after int
	for range 5 {
		before = mappings(t)
		for range 10 {
			closedUnderACall(t, in)
		}
		if after = mappings(t); after <= before+5 {
			return
		}
	}
	t.Errorf("%d mappings before, %d after", before, after)
}

// closedUnderACall closes a session while a call of it runs, without waiting for that.
func closedUnderACall(t *testing.T, in plugins.Instance) {
	t.Helper()
	late, over := context.WithCancel(t.Context())
	over()
	var session plugins.Session
	entered, leave, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	inv := invocation("{}")
	inv.Session = &session
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		close(entered)
		<-leave
		return abi.Answer{OK: struct{}{}}, nil
	}
	go func() {
		_, err := in.Call(t.Context(), inv)
		ended <- err
	}()
	<-entered
	runnertest.WantCode(t, session.Close(late), abi.CodeTimeout, "still in a call")
	close(leave)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// mappings counts the process's mappings, where the system tells.
func mappings(t *testing.T) int {
	t.Helper()
	testenv.Permitted(t, testenv.Linux)
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(maps), "\n")
}
