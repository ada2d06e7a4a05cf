package host_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/plugins"
)

// callers collects what is said of who makes which call, by where it was said.
type callers struct {
	mu    sync.Mutex
	said  map[string]map[string]bool
	turns map[string]map[string]bool
}

func (c *callers) add(where, session, turn, call string, caller host.Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said == nil {
		c.said, c.turns = make(map[string]map[string]bool), make(map[string]map[string]bool)
	}
	if c.said[where] == nil {
		c.said[where] = make(map[string]bool)
	}
	c.said[where][fmt.Sprintf("%s/%s %+v", session, call, caller)] = true
	if c.turns[call] == nil {
		c.turns[call] = make(map[string]bool)
	}
	c.turns[call][turn] = true
}

// watchful is a capability that notes for which call it is asked.
type watchful struct {
	*nestingCapability
	callers *callers
}

func (o watchful) Plan(ctx context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	o.callers.add("capability", scope.Call.Session, scope.Call.Turn, scope.Call.ID, scope.Call.Caller)
	return o.nestingCapability.Plan(ctx, scope, req)
}

// TestCallers has an agent's native tool call a guest in a sub-agent's session, whose
// capability makes a call in the first session again, and compares what events, the decision
// log, hooks and capabilities say of who made which call.
func TestCallers(t *testing.T) {
	t.Parallel()
	var said callers
	log := &logged{}
	f, c := family{}, &nestingCapability{}
	h := open(t, host.Options{
		Plugins:      host.PluginOptions{Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability)}, Granted: []string{"fixture"}},
		Capabilities: []capability.Capability{watchful{c, &said}},
		Tools:        []host.NativeTool{f.call("Call", runWay), echo("Echo")},
		Permissions: host.PermissionOptions{Hooks: hookSet(t, host.Hook{
			Event: host.PreToolUse, Func: func(_ context.Context, in host.HookInput) (host.HookOutput, error) {
				said.add("hook", in.SessionID, in.TurnID, in.ToolUseID, in.Caller)
				return host.HookOutput{}, nil
			},
		})},
		Observe: host.ObserveOptions{Decisions: log, Events: func(e host.Event) {
			if e.CallID != "" {
				said.add("event", e.Session, e.Turn, e.CallID, e.Caller)
			}
		}},
	})
	f["main"] = session(t, h, host.SessionOptions{ID: "s"})
	f["other"] = session(t, h, host.SessionOptions{ID: "o", Caller: host.Caller{Agent: "explore-1", Team: "red"}})
	c.session = f["main"]
	f["main"].Results(t.Context(), []abi.ToolUse{use("a", "Call", `{"in":"other","tool":"Fixture","input":{}}`)})
	for _, e := range log.entries {
		said.add("log", e.Session, e.Turn, e.Call, e.Caller)
	}
	capabilities := []string{"o/a.1 {Agent:explore-1 Team:red Chain:s Parent:a Depth:1}", "o/a.2 {Agent:explore-1 Team:red Chain:s Parent:a Depth:1}"}
	all := slices.Sorted(slices.Values(append(slices.Clone(capabilities),
		"s/a {Agent:main Team: Chain:s Parent: Depth:0}",
		"s/below {Agent:main Team: Chain:s Parent:a.1 Depth:2}", "s/below {Agent:main Team: Chain:s Parent:a.2 Depth:2}")))
	for where, want := range map[string][]string{"event": all, "hook": all, "log": all, "capability": capabilities} {
		if got := slices.Sorted(maps.Keys(said.said[where])); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", where, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for call, want := range map[string]int{"a": 1, "a.1": 1, "a.2": 1, "below": 2} {
		if len(said.turns[call]) != want || said.turns[call][""] {
			t.Errorf("%s is said to be of the turns %q, want %d", call, slices.Collect(maps.Keys(said.turns[call])), want)
		}
	}
}

// TestCallersGiven opens sessions for agents whose turns run under no call.
func TestCallersGiven(t *testing.T) {
	t.Parallel()
	for want, given := range map[string]host.Caller{
		"{Agent:main Team: Chain:s Parent: Depth:0}":  {},
		"{Agent:b Team:red Chain:c Parent:p Depth:8}": {Agent: "b", Team: "red", Chain: "c", Parent: "p", Depth: 8},
	} {
		s := session(t, open(t, host.Options{Tools: []host.NativeTool{echo("Echo")}}), host.SessionOptions{ID: "s", Caller: given})
		r, events := one(t, s, "Echo", `{"s":"x"}`)
		if got := fmt.Sprintf("%+v", events[0].Caller); got != want || r.IsError {
			t.Errorf("got %s, %q, want %s", got, r.Text(), want)
		}
	}
	h := open(t, host.Options{Tools: []host.NativeTool{echo("Echo")}})
	r, _ := one(t, session(t, h, host.SessionOptions{Caller: host.Caller{Depth: 9}}), "Echo", `{"s":"x"}`)
	wantText(t, r, "9 deep")
	for says, given := range map[string]host.Caller{
		"depth is -1":       {Depth: -1},
		"agent must be":     {Agent: strings.Repeat("x", 257)},
		"chain must be":     {Chain: "\xff"},
		"at most 256 bytes": {Team: strings.Repeat("x", 257)},
	} {
		if _, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir(), Caller: given}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

// TestCallersInLogs looks at a line for operators about a call that a call made.
func TestCallersInLogs(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	f := family{}
	h := open(t, host.Options{
		Tools: []host.NativeTool{f.call("Call", resultsWay), echo("Echo")},
		Observe: host.ObserveOptions{
			Decisions: &logged{err: errDisk}, Logger: slog.New(slog.NewTextHandler(&lines, nil)),
		},
	})
	f["main"] = session(t, h, host.SessionOptions{ID: "s"})
	f["main"].Results(t.Context(), []abi.ToolUse{use("a", "Call", `{"tool":"Echo","input":{"s":"x"}}`)})
	for _, want := range []string{" session=s ", " call=a.1 tool=Echo agent=main chain=s parent=a depth=1 "} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, lines.String())
		}
	}
}
