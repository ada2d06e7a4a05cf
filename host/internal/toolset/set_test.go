package toolset

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

func tool(name string, origin Origin, change ...func(*Tool)) Tool {
	t := Tool{Tool: &abi.Tool{Name: name, Summary: "A tool", InputSchema: `{"type":"object"}`}, Origin: origin}
	for _, c := range change {
		c(&t)
	}
	return t
}

func deferred(t *Tool) { t.Defer = true }

func inFull(t *Tool) { t.AlwaysLoad = true }

func search() Tool { return tool(Search, OriginBuiltin) }

// build makes a set of tools in any order.
func build(t *testing.T, k *Known, offering Selection, tools ...Tool) *Set {
	t.Helper()
	Sort(tools)
	s, err := New(tools, &Options{Selection: offering, Format: FormatMCP, Known: k})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told are the names in the definitions that a model is told.
func told(t *testing.T, s *Set, k *Known) string {
	t.Helper()
	text, err := s.Tell(k)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Name string }
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name)
	}
	return strings.Join(names, " ")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	var k Known
	s := build(t, &k, Selection{Defer: DeferAlways},
		tool("mcp__ide__run", OriginNative, inFull), tool("mcp__slack__send", OriginNative, inFull),
		tool("mcp__a__b", OriginNative, inFull), tool("Cow", OriginPlugin), tool("Zebra", OriginNative),
		tool("Write", OriginBuiltin), search(), tool("Late", OriginPlugin, deferred), tool("Read", OriginBuiltin),
		tool("Off", OriginBuiltin, func(t *Tool) { t.NotOffered = errors.New("off") }))
	if got := told(t, s, &k); got != "Read ToolSearch Write Zebra Cow mcp__a__b mcp__slack__send mcp__ide__run" {
		t.Errorf("offered: %s", got)
	}
	if !s.Defers("Late") || s.Defers("Cow") || s.Defers("Off") {
		t.Error("wrong tools are deferred")
	}
}

func TestDeferral(t *testing.T) {
	t.Parallel()
	late := tool("Late", OriginNative, deferred)
	early := tool("Early", OriginNative)
	for name, test := range map[string]struct {
		offering Selection
		tools    []Tool
		want     string
	}{
		"few tools":           {Selection{}, []Tool{search(), early, late}, "Early Late"},
		"asked for":           {Selection{Defer: DeferAlways}, []Tool{search(), early, late}, "ToolSearch Early"},
		"over a bound":        {Selection{DeferOverTools: 1}, []Tool{search(), early, late}, "ToolSearch Early"},
		"never":               {Selection{DeferOverTools: 1, Defer: DeferNever}, []Tool{search(), early, late}, "Early Late"},
		"no search":           {Selection{Defer: DeferAlways}, []Tool{early, late}, "Early Late"},
		"a plugin's search":   {Selection{Defer: DeferAlways}, []Tool{tool(Search, OriginPlugin), late}, "Late ToolSearch"},
		"nothing to be found": {Selection{Defer: DeferAlways}, []Tool{search(), early}, "Early"},
	} {
		var k Known
		if got := told(t, build(t, &k, test.offering, test.tools...), &k); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestKnown follows what a model is told of a tool that is deferred and then loaded.
func TestKnown(t *testing.T) {
	t.Parallel()
	var k Known
	always := Selection{Defer: DeferAlways}
	first := build(t, &k, always, search(), tool("Late", OriginNative, deferred))
	if k.Lacks("Late") {
		t.Error("the model lacks what nobody told it of")
	}
	told(t, first, &k)
	if !k.Lacks("Late") || k.Loaded("Late") {
		t.Error("a deferred tool counts as loaded")
	}
	reference := abi.Block{Type: abi.BlockToolReference, ToolName: "Late"}
	other := abi.Block{Type: abi.BlockToolReference, ToolName: "Other"}
	content := first.Refer([]abi.Block{abi.TextBlock("found"), reference, other, reference})
	if len(content) != 2 || !strings.HasPrefix(content[1].Text, `Late can be called now. Its definition:`+"\n{") {
		t.Errorf("references: %+v", content)
	}
	if news := k.Learn(content); len(news) != 1 || len(k.Learn(content)) > 0 || k.Lacks("Late") {
		t.Errorf("loaded: %v", news)
	}
	if got := told(t, first, &k); got != "ToolSearch Late" {
		t.Errorf("after it was loaded: %s", got)
	}
	// The session continues to defer, and leaves alone what it told in full.
	next := build(t, &k, Selection{}, search(), tool("Late", OriginNative, deferred), tool("Later", OriginNative, deferred))
	if got := told(t, next, &k); got != "ToolSearch Late" || !next.Defers("Later") {
		t.Errorf("later: %s", got)
	}
	var full Known
	told(t, build(t, &full, Selection{}, search(), tool("Late", OriginNative, deferred)), &full)
	if s := build(t, &full, always, search(), tool("Late", OriginNative, deferred)); s.Defers("Late") {
		t.Error("the model forgets a definition")
	}
	var resumed Known
	if err := resumed.Restore(json.RawMessage(`["Late"]`)); err != nil || !resumed.Loaded("Late") {
		t.Errorf("resumed: %v", err)
	}
	if err := resumed.Restore(json.RawMessage(`{}`)); err == nil {
		t.Error("a damaged record is restored")
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	var k Known
	s := build(t, &k, Selection{Defer: DeferAlways}, search(), tool("Read", OriginBuiltin), tool("Late", OriginNative, deferred))
	for name, want := range map[string]string{
		"read":    "did you mean Read?",
		"Nothing": "there are Read, ToolSearch, and 1 more that ToolSearch finds",
	} {
		if got := s.Suggest(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := (&Set{}).Suggest("Read"); got != "no tool is offered" {
		t.Errorf("of none: %s", got)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	var k Known
	off := errors.New("off")
	tools := []Tool{tool("Late", OriginBuiltin, deferred), search(), tool("Off", OriginNative, func(t *Tool) { t.NotOffered = off })}
	states := build(t, &k, Selection{}, tools...).States(tools, &k)
	if len(states) != 3 || states[0].Chars == 0 || states[0].Deferred || states[1].NotOffered == nil || !errors.Is(states[2].NotOffered, off) {
		t.Errorf("%+v", states)
	}
	if states := build(t, &k, Selection{Defer: DeferAlways}, tools...).States(tools, &k); !states[0].Deferred || states[1].NotOffered != nil {
		t.Errorf("%+v", states)
	}
}
