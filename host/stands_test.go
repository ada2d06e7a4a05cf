package host_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// TestChangesWhileACallWaitsForItsSlot changes the rules behind a decision on a call
// that has not begun.
func TestChangesWhileACallWaitsForItsSlot(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rules []permissions.RuleSet
		mode  permissions.Mode
		want  abi.Code // empty: it runs
	}{
		"a deny":         {rules: rules("Put", "", ""), want: abi.CodeDenied},
		"a deny of it":   {rules: rules("Edit(a)", "", ""), want: abi.CodeDenied},
		"an ask":         {rules: rules("", "Put", ""), want: abi.CodeNeedsApproval},
		"plan":           {mode: permissions.ModePlan, want: abi.CodeDenied},
		"another deny":   {rules: rules("Edit(b)", "", "")},
		"another mode":   {mode: permissions.ModeBypass},
		"nothing at all": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r ran
			list, hold := &logged{}, newBarrier()
			h := open(t, host.Options{Limits: host.LimitOptions{MaxConcurrent: 1}, Observe: host.ObserveOptions{Decisions: list}, Tools: []host.NativeTool{
				safely(r.put()), does("Hold", func(ctx context.Context, _ *host.Call) (string, error) { return "", hold.wait(ctx) }),
			}})
			s := session(t, h, host.SessionOptions{Mode: permissions.ModeAcceptEdits})
			st := s.Stream(t.Context())
			heard := listen(t, st.Events())
			must(t, st.Add(use("1", "Hold", `{}`)))
			arrives(t, "the slot is taken", hold.reached)
			must(t, st.Add(use("2", "Put", `{"path":"a"}`)))
			heard.await(host.EventDecided, "2")
			if test.mode != "" {
				must(t, s.SetMode(test.mode))
			} else {
				must(t, h.Apply(host.Settings{Rules: test.rules}))
			}
			hold.lift()
			st.Close()
			events := heard.all()
			result := resultsOf(events)["2"]
			if test.want != "" {
				wantError(t, result, test.want)
				if logged := list.all(); len(logged) != 3 || len(of(events, host.EventStarted)) != 1 {
					t.Errorf("decided %v, and %d calls started", logged, len(of(events, host.EventStarted)))
				}
			}
			if ran := r.count() == 1; ran != (test.want == "") {
				t.Errorf("ran: %v: %s", ran, result.Text())
			}
		})
	}
}

// TestMoveWhileACallWaitsForItsSlot has one call make two turns at a time. In one of
// them a relative path is judged, and the other moves the session to where the same
// path is denied.
func TestMoveWhileACallWaitsForItsSlot(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{"secret": "shown", "below/secret": "denied"})
	below, err := json.Marshal(filepath.Join(root, "below"))
	must(t, err)
	var r ran
	var s *host.Session
	var result abi.ToolResult
	hold, moving := newBarrier(), newBarrier()
	move := echo("Move", alone)
	move.Run = func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
		return abi.ToolResult{Changes: []abi.Change{{Kind: abi.ChangeCwd, Value: below}}}, moving.wait(ctx)
	}
	begin := func(ctx context.Context, id, tool string, at *barrier) (*host.Stream, *heard) {
		st := s.Stream(ctx)
		h := listen(t, st.Events())
		must(t, st.Add(use(id, tool, `{}`)))
		arrives(t, tool, at.reached)
		return st, h
	}
	both := does("Both", func(ctx context.Context, _ *host.Call) (string, error) {
		first, events := begin(ctx, "1", "Hold", hold)
		second, moved := begin(ctx, "2", "Move", moving)
		must(t, first.Add(use("3", "Get", `{"path":"secret"}`)))
		events.await(host.EventDecided, "3")
		first.Close()
		second.Close()
		moving.lift()
		moved.all()
		hold.lift()
		result = resultsOf(events.all())["3"]
		return "", nil
	}, func(c *abi.Tool) { c.ReadOnly, c.ConcurrencySafe = abi.TraitTrue, abi.TraitFalse })
	h := open(t, host.Options{Limits: host.LimitOptions{MaxConcurrent: 2}, Permissions: host.PermissionOptions{Rules: rules("Read(below/secret)", "", "")}, Tools: []host.NativeTool{
		r.get(), move, both, does("Hold", func(ctx context.Context, _ *host.Call) (string, error) { return "", hold.wait(ctx) }),
	}})
	s = session(t, h, host.SessionOptions{Cwd: root})
	one(t, s, "Both", `{}`)
	// Which of the two comes first is chance: what was judged ran, or nothing did.
	if text := result.Text(); text != "shown" && !strings.Contains(text, "the working directory became") {
		t.Errorf("got %q", text)
	}
}
