package host_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
)

// served is a tool of the server "s" that answers with what it is told of the call.
func served(name, own string) host.NativeTool {
	t := host.NativeTool{
		Contract: abi.Tool{Name: name, Summary: "Answers", InputSchema: `{"type":"object"}`},
		Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
			return abi.ToolResult{Content: []abi.Block{abi.TextBlock(own + " in " + c.Session + " by " + string(c.Policy.Mode()))}}, nil
		},
	}
	t.Server = func(json.RawMessage) host.ToolServer { return host.ToolServer{Name: "s", Tool: own} }
	return t
}

// TestProvide has tools come, change and go while the host is open: each turn has those that
// it began with, and events say whose the tools are.
func TestProvide(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var changes []string
	servers := make(map[string]bool)
	h := open(t, host.Options{Observe: host.ObserveOptions{Events: func(e host.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Tools != nil {
			changes = append(changes, strings.Join(slices.Concat([]string{"+"}, e.Tools.Added, []string{"~"}, e.Tools.Changed, []string{"-"}, e.Tools.Removed), " "))
		}
		if e.Kind == host.EventStarted || e.Kind == host.EventFinished {
			servers[string(e.Kind)+" "+e.Server.Name+" "+e.Server.Tool] = true
		}
	}}, Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Allow: permissions.RuleTexts("mcp__s")}}}})
	s := session(t, h, host.SessionOptions{ID: "one"})
	call := func(name string) abi.ToolResult {
		return s.Results(t.Context(), []abi.ToolUse{{ID: "c", Name: name, Input: json.RawMessage("{}")}})[0]
	}
	if r := call("mcp__s__do_it"); !r.IsError {
		t.Error("a tool that nobody provides answered")
	}
	if err := h.Provide("s", host.Provided{Tools: []host.NativeTool{served("mcp__s__do_it", "do it")}}); err != nil {
		t.Fatal(err)
	}
	if r := call("mcp__s__do_it"); r.IsError || r.Content[0].Text != "do it in one by default" {
		t.Errorf("got %+v", r)
	}
	if err := h.Provide("other", host.Provided{Tools: []host.NativeTool{served("mcp__s__do_it", "do it")}}); err == nil || !strings.Contains(err.Error(), "mcp__s__do_it") {
		t.Errorf("a name was given to two: %v", err)
	}
	changed := served("mcp__s__do_it", "do it")
	changed.Contract.Summary = "Answers otherwise"
	for _, p := range []host.Provided{{Tools: []host.NativeTool{changed}}, {}} {
		if err := h.Provide("s", p); err != nil {
			t.Fatal(err)
		}
	}
	if r := call("mcp__s__do_it"); !r.IsError {
		t.Error("a tool that is gone answered")
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"+ mcp__s__do_it ~ -", "+ ~ mcp__s__do_it -", "+ ~ - mcp__s__do_it"}; !slices.Equal(changes, want) {
		t.Errorf("the changes are %q, want %q", changes, want)
	}
	if !servers["started s do it"] || !servers["finished s do it"] {
		t.Errorf("events name %v", servers)
	}
}

// decisions keeps what is logged.
type decisions struct{ list []audit.Entry }

func (d *decisions) Append(e audit.Entry) error {
	d.list = append(d.list, e)
	return nil
}

// TestServersAreOnRecord tells hooks and the log of decisions whose tool it is.
func TestServersAreOnRecord(t *testing.T) {
	t.Parallel()
	var told []string
	hook := host.Hook{Event: host.PreToolUse, Func: func(_ context.Context, in host.HookInput) (host.HookOutput, error) {
		told = append(told, in.Server+"/"+in.ServerTool)
		return host.HookOutput{}, nil
	}}
	hooks, err := host.CompileHooks([]host.Hook{hook}, host.HookOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var log decisions
	h := open(t, host.Options{Permissions: host.PermissionOptions{Rules: rules("", "", "mcp__s"), Hooks: hooks}, Observe: host.ObserveOptions{Decisions: &log}, Tools: []host.NativeTool{echo("Own")}})
	if err := h.Provide("s", host.Provided{Tools: []host.NativeTool{served("mcp__s__do_it", "do it")}}); err != nil {
		t.Fatal(err)
	}
	s := session(t, h, host.SessionOptions{})
	one(t, s, "mcp__s__do_it", `{}`)
	one(t, s, "Own", `{"s":"x"}`)
	if want := []string{"s/do it", "/"}; !slices.Equal(told, want) {
		t.Errorf("hooks were told of %q", told)
	}
	var logged []string
	for _, e := range log.list {
		logged = append(logged, e.Tool+" "+e.Server+"/"+e.ServerTool)
	}
	if want := []string{"mcp__s__do_it s/do it", "Own /"}; !slices.Equal(logged, want) {
		t.Errorf("logged: %q", logged)
	}
}

// TestServersAreJudgedByRecord compares rules with the server and tool on record, and trusts
// no word of a server's tool.
func TestServersAreJudgedByRecord(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		allow, deny string
		runs        bool
		offered     bool
	}{
		"nothing":             {"", "", false, true},
		"the server":          {"mcp__s", "", true, true},
		"the offered name":    {"mcp__s__do_it", "", true, true},
		"another server":      {"mcp__s_", "", false, true},
		"another tool":        {"mcp__s__do", "", false, true},
		"denied by server":    {"mcp__s__do_it", "mcp__s", false, false},
		"denied by its name":  {"mcp__s", "mcp__s__do_it", false, false},
		"all servers denied":  {"mcp__s", "mcp__*", false, false},
		"another tool denied": {"mcp__s", "mcp__s__other", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := permissions.RuleSet{Source: permissions.SourceUser}
			if test.allow != "" {
				rules.Allow = permissions.RuleTexts(test.allow)
			}
			if test.deny != "" {
				rules.Deny = permissions.RuleTexts(test.deny)
			}
			h := open(t, host.Options{Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{rules}}})
			liar := served("mcp__s__do_it", "do it")
			liar.Contract.ReadOnly, liar.Contract.Checks = abi.TraitTrue, true
			liar.Assess = func(context.Context, json.RawMessage, []abi.Fact) (abi.Assessment, error) {
				return abi.Assessment{Check: &abi.Check{Verdict: "allow"}}, nil
			}
			if err := h.Provide("s", host.Provided{Tools: []host.NativeTool{liar}}); err != nil {
				t.Fatal(err)
			}
			s := session(t, h, host.SessionOptions{})
			defined, err := s.Definitions(host.FormatMCP)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(defined), "mcp__s__do_it"); got != test.offered {
				t.Errorf("offered: %v", got)
			}
			if r := s.Results(t.Context(), []abi.ToolUse{{ID: "c", Name: "mcp__s__do_it"}})[0]; r.IsError == test.runs {
				t.Errorf("it runs: %v; %+v", !r.IsError, r.Content)
			}
		})
	}
}

// TestServersGetNoNulls leaves out what a model has written as null, where the tool is a server's
// and takes no null there.
func TestServersGetNoNulls(t *testing.T) {
	t.Parallel()
	tool := served("mcp__s__echo", "echo")
	tool.Contract.InputSchema = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]},"c":{"type":"string"}},"required":["c"]}`
	tool.Run = func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
		return abi.ToolResult{Content: []abi.Block{abi.TextBlock(string(c.Input))}}, nil
	}
	h := open(t, host.Options{})
	if err := h.Provide("s", host.Provided{Tools: []host.NativeTool{tool}}); err != nil {
		t.Fatal(err)
	}
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeBypass})
	if r, _ := one(t, s, "mcp__s__echo", `{"a":null,"b":null,"c":"x"}`); r.Text() != `{"b":null,"c":"x"}` {
		t.Errorf("it got %s", r.Text())
	}
	if r, _ := one(t, s, "mcp__s__echo", `{"c":null}`); !r.IsError {
		t.Errorf("it got %s, without what it requires", r.Text())
	}
}
