package runnertest

import (
	"context"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

func testKept(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "counter", kept, patient)
	count := func(session *plugins.Session) string {
		inv := g.invocation("{}")
		inv.Session = session
		result, err := g.Call(t.Context(), inv)
		if err != nil {
			t.Fatal(err)
		}
		return result.Text()
	}
	var a, b plugins.Session
	defer a.Close(context.Background())
	defer b.Close(context.Background())
	if got := count(&a) + count(&a) + count(&b) + count(&a) + count(nil) + count(&b); got != "121312" {
		t.Errorf("two sessions, and a call without one, counted %s; want 121312", got)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	inv := g.invocation("{}")
	inv.Session = &a
	_, err := g.Call(t.Context(), inv)
	WantCode(t, err, abi.CodeCancelled, "session is closed")
}

func testKeptTrap(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "trap", kept, patient)
	var session plugins.Session
	defer session.Close(context.Background())
	var logged []string
	inv := g.invocation("{}")
	inv.Session = &session
	inv.Report = func(p abi.ProgressHead) {
		if !strings.HasPrefix(p.Log.Message, "stack trace of the module:") {
			logged = append(logged, p.Log.Message)
		}
	}
	for range 2 {
		_, err := g.Call(t.Context(), inv)
		WantCode(t, err, abi.CodeTrap, "unreachable")
	}
	if len(logged) != 2 || !strings.Contains(logged[0], "lost the state") {
		t.Errorf("logged %q", logged)
	}
}

func testKeptReentry(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "pass_through", kept, patient)
	var session plugins.Session
	defer session.Close(context.Background())
	inv := g.invocation("{}")
	inv.Session = &session
	inv.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
		_, err := g.Call(ctx, inv)
		return abi.Answer{}, err
	}
	_, err := g.Call(t.Context(), inv)
	WantCode(t, err, abi.CodeReentry, "cannot be called by itself")
}
