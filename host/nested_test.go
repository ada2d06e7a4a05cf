package host_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// family are sessions whose tools make calls in them.
type family map[string]*host.Session

// call is a tool that makes the calls named in its input, in the session named there,
// and says what came of them.
func (f family) call(name string, how callWay, change ...func(*abi.Tool)) host.NativeTool {
	return does(name, func(ctx context.Context, c *host.Call) (string, error) {
		in := field(c, "in")
		if in == "" {
			in = "main"
		}
		tool, input := field(c, "tool"), string(fieldsOf(c.Input)["input"])
		var out strings.Builder
		for _, r := range how(ctx, f[in], []abi.ToolUse{use(c.ID+".1", tool, input), use(c.ID+".2", tool, input)}) {
			out.WriteString("[" + r.Text() + "]")
		}
		return out.String(), nil
	}, change...)
}

// callWay is a way to make calls, of which there are three.
type callWay func(context.Context, *host.Session, []abi.ToolUse) []abi.ToolResult

func resultsWay(ctx context.Context, s *host.Session, uses []abi.ToolUse) []abi.ToolResult {
	return s.Results(ctx, uses)
}

func runWay(ctx context.Context, s *host.Session, uses []abi.ToolUse) (results []abi.ToolResult) {
	for e := range s.Run(ctx, uses) {
		if e.Kind == host.EventResult {
			results = append(results, *e.Result)
		}
	}
	return results
}

func streamWay(ctx context.Context, s *host.Session, uses []abi.ToolUse) (results []abi.ToolResult) {
	st := s.Stream(ctx)
	for _, use := range uses {
		if err := st.Add(use); err != nil {
			return []abi.ToolResult{text(err.Error())}
		}
	}
	st.Close()
	for e := range st.Events() {
		if e.Kind == host.EventResult {
			results = append(results, *e.Result)
		}
	}
	return results
}

// TestNestedCalls has calls make calls, with one slot in all: of their own session, of
// another, and back again.
func TestNestedCalls(t *testing.T) {
	ways := map[string]callWay{"Results": resultsWay, "Run": runWay, "Stream": streamWay}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			f := family{}
			h := open(t, host.Options{Limits: host.LimitOptions{MaxConcurrent: 1, MaxCalls: 1, MaxPerPlugin: 1}, Tools: []host.NativeTool{f.call("Call", way), echo("Echo")}})
			f["main"], f["other"] = session(t, h, host.SessionOptions{}), session(t, h, host.SessionOptions{})
			const leaf = `"tool":"Echo","input":{"s":"x"}`
			for what, input := range map[string]string{
				"its own":            `{` + leaf + `}`,
				"another's":          `{"in":"other",` + leaf + `}`,
				"deep":               `{"tool":"Call","input":{` + leaf + `}}`,
				"there and back":     `{"in":"other","tool":"Call","input":{"in":"main",` + leaf + `}}`,
				"there, back, there": `{"in":"other","tool":"Call","input":{"in":"main","tool":"Call","input":{"in":"other",` + leaf + `}}}`,
			} {
				r, events := one(t, f["main"], "Call", input)
				if r.IsError || strings.Trim(r.Text(), "[]x") != "" || !strings.Contains(r.Text(), "[x][x]") {
					t.Errorf("%s: got %q", what, r.Text())
				}
				if len(of(events, host.EventResult)) != 1 {
					t.Errorf("%s: calls that a call makes are events of its turn", what)
				}
			}
		})
	}
}

// TestNestedCallsShareSlots has two calls make four calls each: never more run at once than
// the turn of the two may.
func TestNestedCallsShareSlots(t *testing.T) {
	t.Parallel()
	var inner overlaps
	var s *host.Session
	beside := abi.Tool{Name: "Leaf", Summary: "Waits", InputSchema: `{"type":"object"}`, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue}
	fan := beside
	fan.Name = "Fan"
	h := open(t, host.Options{Limits: host.LimitOptions{MaxConcurrent: 2}, Tools: []host.NativeTool{
		{Contract: beside, Run: func(context.Context, *host.Call) (abi.ToolResult, error) {
			defer inner.enter()()
			inner.meet(2)
			return text("x"), nil
		}},
		{Contract: fan, Run: func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
			s.Results(ctx, []abi.ToolUse{use("1", "Leaf", `{}`), use("2", "Leaf", `{}`), use("3", "Leaf", `{}`), use("4", "Leaf", `{}`)})
			return text("x"), nil
		}},
	}})
	s = session(t, h, host.SessionOptions{})
	s.Results(t.Context(), []abi.ToolUse{use("a", "Fan", `{}`), use("b", "Fan", `{}`)})
	if most := inner.most.Load(); most != 2 {
		t.Errorf("%d calls ran at once, want 2", most)
	}
}

// TestNestedEvents looks at what events say of the calls above.
func TestNestedEvents(t *testing.T) {
	f := family{}
	type place struct {
		call, parent string
		depth        int
	}
	var places []place
	var turns []string
	h := open(t, host.Options{
		Tools: []host.NativeTool{f.call("Call", resultsWay), echo("Echo")},
		Observe: host.ObserveOptions{Events: func(e host.Event) {
			if e.Kind == host.EventResult { // one at a time, as each waits for those below
				places = append(places, place{e.CallID, e.Parent, e.Depth})
				turns = append(turns, e.Turn)
			}
		}},
		Limits: host.LimitOptions{MaxConcurrent: 1},
	})
	f["main"] = session(t, h, host.SessionOptions{})
	f["main"].Results(t.Context(), []abi.ToolUse{use("a", "Call", `{"tool":"Echo","input":{"s":"x"}}`)})
	want := []place{{"a.1", "a", 1}, {"a.2", "a", 1}, {"a", "", 0}}
	if !slices.Equal(places, want) {
		t.Errorf("the results were of %v, want %v", places, want)
	}
	if len(turns) == 3 && (turns[0] != turns[1] || turns[0] == turns[2]) {
		t.Errorf("the turns are named %v", turns)
	}
}

// TestNestedTooDeep has a tool call itself without an end, in every way, with one slot
// for all.
func TestNestedTooDeep(t *testing.T) {
	for name, way := range map[string]callWay{"Results": resultsWay, "Run": runWay, "Stream": streamWay} {
		t.Run(name, func(t *testing.T) {
			f := family{}
			deepest := 0
			tool := does("Self", func(ctx context.Context, c *host.Call) (string, error) {
				deepest++
				return way(ctx, f["main"], []abi.ToolUse{use(c.ID+"x", "Self", `{}`)})[0].Text(), nil
			})
			f["main"] = session(t, open(t, host.Options{Limits: host.LimitOptions{MaxConcurrent: 1, MaxCalls: 1}, Tools: []host.NativeTool{tool}}), host.SessionOptions{})
			r, _ := one(t, f["main"], "Self", `{}`)
			if want := "Self was not run: it is made by a call that was made by a call, 9 deep; at most 8 are"; deepest != 9 || r.Text() != "<tool_use_error>"+want+"</tool_use_error>" {
				t.Errorf("after %d calls it answers %q", deepest, r.Text())
			}
		})
	}
}

// TestNestedCallsKeepToTheirParents has calls make calls that do more than they said
// they would themselves.
func TestNestedCallsKeepToTheirParents(t *testing.T) {
	root := files(t, map[string]string{"a": "", "b": ""})
	f := family{}
	tests := map[string]struct {
		parent func(*abi.Tool)
		child  string
		says   string // empty is that it may
	}{
		"alone":               {func(c *abi.Tool) { c.ReadOnly, c.ConcurrencySafe = "", "" }, `"tool":"Put","input":{"path":"b"}`, ""},
		"read-only":           {func(*abi.Tool) {}, `"tool":"Put","input":{"path":"b"}`, "Call may not call Put: it declares itself read-only"},
		"read-only, reading":  {func(*abi.Tool) {}, `"tool":"Get","input":{"path":"b"}`, ""},
		"safe":                {func(c *abi.Tool) { c.ReadOnly = "" }, `"tool":"Put","input":{"path":"b"}`, "Put must run alone"},
		"locks the same":      {locksA, `"tool":"Put","input":{"path":"a"}`, ""},
		"locks to read":       {locksToRead, `"tool":"Put","input":{"path":"a"}`, "which touches more than Call said"},
		"locks to read, read": {locksToRead, `"tool":"Get","input":{"path":"a"}`, ""},
		"locks another":       {locksA, `"tool":"Put","input":{"path":"b"}`, "which touches more than Call said"},
		"locks, child is not": {locksA, `"tool":"Free","input":{}`, "which touches more than Call said"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := open(t, host.Options{Permissions: host.PermissionOptions{Rules: rules("", "", "Put | Free | Call")}, Tools: []host.NativeTool{
				f.call("Call", resultsWay, test.parent), putLocked(&ran{}, "Put"), (&ran{}).get(),
				echo("Free", func(c *abi.Tool) { c.ReadOnly, c.ConcurrencySafe = "", "" }),
			}})
			f["main"] = session(t, h, host.SessionOptions{Cwd: root})
			r, _ := one(t, f["main"], "Call", `{"path":"a",`+test.child+`}`)
			switch {
			case test.says != "":
				wantText(t, r, test.says)
			case r.IsError || strings.Contains(r.Text(), "may not"):
				t.Errorf("got %q", r.Text())
			}
		})
	}
}

func locksA(c *abi.Tool) {
	c.ReadOnly, c.ConcurrencySafe, c.Locks = "", "", abi.LocksFields
	c.Fields = []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectWrite}}
}

func locksToRead(c *abi.Tool) {
	locksA(c)
	c.Fields[0].Effect = abi.EffectRead
}

// TestNestedAccessesKeepToParents has a plugin's tool, called by a call that locked a
// file, touch another one.
func TestNestedAccessesKeepToParents(t *testing.T) {
	root := files(t, map[string]string{"a": "", "b": ""})
	native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, filepath.Join(root, "b"))}}
	f := family{}
	h := open(t, host.Options{
		Plugins:      host.PluginOptions{Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+"read_only = true\nconcurrency_safe = true\n"+fixtureCapability)}, Granted: []string{"fixture"}},
		Capabilities: []capability.Capability{native},
		Tools:        []host.NativeTool{f.call("Call", resultsWay, locksA)}, Permissions: host.PermissionOptions{Rules: rules("", "", "Call")},
	})
	f["main"] = session(t, h, host.SessionOptions{Cwd: root})
	r, _ := one(t, f["main"], "Call", `{"path":"a","tool":"Fixture","input":{}}`)
	wantText(t, r, "Call declares that it touches nothing but what its input names")
	if native.done > 0 {
		t.Error("it was done all the same")
	}
}

func wantText(t *testing.T, r abi.ToolResult, says string) {
	t.Helper()
	if !strings.Contains(r.Text(), says) {
		t.Errorf("got %q, want %q in it", r.Text(), says)
	}
}

// TestNestedEndsWithItsParent interrupts a call that waits for one that it made.
func TestNestedEndsWithItsParent(t *testing.T) {
	for name, way := range map[string]callWay{"Results": resultsWay, "Run": runWay, "Stream": streamWay} {
		t.Run(name, func(t *testing.T) {
			b := newBarrier()
			f := family{}
			h := open(t, host.Options{Tools: []host.NativeTool{
				f.call("Call", way, alone), does("Wait", func(ctx context.Context, _ *host.Call) (string, error) { return "", b.wait(ctx) }, alone),
			}})
			f["main"] = session(t, h, host.SessionOptions{})
			st := f["main"].Stream(t.Context())
			hd := listen(t, st.Events())
			must(t, st.Add(use("1", "Call", `{"tool":"Wait","input":{}}`)))
			st.Close()
			arrives(t, "the call below", b.reached)
			st.Interrupt()
			hd.all()
			if r, _ := one(t, f["main"], "Nope", `{}`); r.Error == nil || r.Error.Code != abi.CodeUnknownTool {
				t.Errorf("the next turn answers %q", r.Text())
			}
		})
	}
}

// TestNestedStreamIsLeftOpen has a call return with its stream open: what that makes
// ends, and the session goes on.
func TestNestedStreamIsLeftOpen(t *testing.T) {
	b := newBarrier()
	f := family{}
	ended := make(chan struct{})
	h := open(t, host.Options{Limits: host.LimitOptions{MaxConcurrent: 1}, Tools: []host.NativeTool{
		does("Leave", func(ctx context.Context, _ *host.Call) (string, error) {
			st := f["main"].Stream(ctx)
			go func() {
				defer close(ended)
				for range st.Events() {
				}
			}()
			if err := st.Add(use("below", "Wait", `{}`)); err != nil {
				return "", err
			}
			return "left", b.reachedSoon()
		}),
		does("Wait", func(ctx context.Context, _ *host.Call) (string, error) { return "", b.wait(ctx) }),
	}})
	f["main"] = session(t, h, host.SessionOptions{})
	if r, _ := one(t, f["main"], "Leave", `{}`); r.Text() != "left" {
		t.Errorf("got %q", r.Text())
	}
	arrives(t, "the end of the stream that was left", ended)
	f["main"].Results(t.Context(), []abi.ToolUse{use("1", "Nope", `{}`)})
}

func (b *barrier) reachedSoon() error {
	select {
	case <-b.reached:
		return nil
	case <-time.After(testenv.Patience):
		return errors.New("nobody came")
	}
}

// TestContextOfAnEndedCall makes a turn under the context of a call that is over.
func TestContextOfAnEndedCall(t *testing.T) {
	var kept context.Context
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{
		does("Keep", func(ctx context.Context, _ *host.Call) (string, error) {
			kept = context.WithoutCancel(ctx) //nolint:fatcontext // it is kept once
			return "", nil
		}),
		echo("Echo"),
	}}), host.SessionOptions{})
	one(t, s, "Keep", `{}`)
	if r := s.Results(kept, []abi.ToolUse{use("1", "Echo", `{"s":"x"}`)}); r[0].Text() != "x" {
		t.Errorf("got %q", r[0].Text())
	}
}

// TestSlotIsLentWhileAPersonIsAsked asks about a call, or one of its capability calls,
// with one slot, which another call takes meanwhile.
func TestSlotIsLentWhileAPersonIsAsked(t *testing.T) {
	for name, tool := range map[string]string{"before it starts": "Ask", "in a capability call": "Fixture"} {
		t.Run(name, func(t *testing.T) {
			asked := newBarrier()
			native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, "/opt/elsewhere")}}
			s := session(t, open(t, host.Options{
				Limits: host.LimitOptions{MaxConcurrent: 1, MaxCalls: 1},
				Plugins: host.PluginOptions{
					Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+"read_only = true\nconcurrency_safe = true\n"+fixtureCapability)},
					Granted: []string{"fixture"},
				},
				Capabilities: []capability.Capability{native},
				Permissions:  host.PermissionOptions{Rules: rules("", "Ask", "")},
				Tools: []host.NativeTool{echo("Echo"), does("Ask", func(context.Context, *host.Call) (string, error) {
					return "done", nil
				})},
			}), host.SessionOptions{Asker: asking(func(ctx context.Context, _ host.Approval) (host.Reply, error) {
				return host.Reply{Answer: host.AnswerAllow}, asked.wait(ctx)
			})})
			st := s.Stream(t.Context())
			h := listen(t, st.Events())
			must(t, st.Add(use("1", tool, `{}`)))
			arrives(t, "the question", asked.reached)
			must(t, st.Add(use("2", "Echo", `{"s":"x"}`)))
			st.Close()
			h.await(host.EventFinished, "2")
			asked.lift()
			if r := resultsOf(h.all())["1"]; r.Text() != "done" {
				t.Errorf("got %q", r.Text())
			}
		})
	}
}

// nestingCapability makes a call of its own, in the turn of the guest that asked for
// it.
type nestingCapability struct {
	testCapability
	session *host.Session
}

func (c *nestingCapability) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return nestingPlan{c}, nil
}

type nestingPlan struct{ *nestingCapability }

func (nestingPlan) Accesses() []permissions.Access { return nil }
func (nestingPlan) Close() error                   { return nil }

func (p nestingPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	r := p.session.Results(ctx, []abi.ToolUse{use("below", "Echo", `{"s":"x"}`)})
	body := abi.Bytes([]byte(r[0].Text()))
	return abi.Answer{OK: struct{}{}, Body: body, Size: int64(len(r[0].Text()))}, nil
}

// TestNestedInACapability makes a call while a guest waits for a capability, with one
// slot.
func TestNestedInACapability(t *testing.T) {
	c := &nestingCapability{}
	h := open(t, host.Options{
		Limits:       host.LimitOptions{MaxConcurrent: 1},
		Plugins:      host.PluginOptions{Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability)}, Granted: []string{"fixture"}},
		Capabilities: []capability.Capability{c},
		Tools:        []host.NativeTool{echo("Echo")},
	})
	c.session = session(t, h, host.SessionOptions{})
	if r, _ := one(t, c.session, "Fixture", `{}`); r.Text() != "x" {
		t.Errorf("got %q", r.Text())
	}
	if r := c.session.Results(t.Context(), []abi.ToolUse{use("1", "Fixture", `{}`)}); r[0].Text() != "x" {
		t.Errorf("got %q", r[0].Text())
	}
}
