package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/plugins"
)

// TestNatives finds tools by name and alias, and gives no name to two.
func TestNatives(t *testing.T) {
	t.Parallel()
	native := func(name string, aliases ...string) *tool.Native {
		n, err := tool.NewNative(
			abi.Tool{Name: name, Aliases: aliases, Description: "-", InputSchema: `{"type":"object"}`},
			tool.Functions{Run: func(context.Context, tool.Invocation) (abi.ToolResult, error) { return abi.ToolResult{}, nil }},
		)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var natives tool.Natives
	two, one := native("Two", "Second"), native("One")
	for _, n := range []*tool.Native{two, one} {
		if err := natives.Add(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := natives.Add(native("Second")); err == nil || !strings.Contains(err.Error(), `"Second"`) {
		t.Errorf("a name was given to two tools: %v", err)
	}
	if all := natives.All(); len(all) != 2 || all[0] != one || all[1] != two {
		t.Errorf("the tools are %v", all)
	}
	if names := strings.Join(natives.Names(), " "); names != "One Second Two" {
		t.Errorf("the names are %s", names)
	}
	set, err := plugins.Open(plugins.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := tool.Set{Set: set, Natives: &natives}
	if found, ok := all.Find("Second"); !ok || found != tool.Tool(two) {
		t.Errorf("found %v", found)
	}
	if _, ok := all.Find("Third"); ok {
		t.Error("found a tool that does not exist")
	}
	if err := natives.Clash(set); err != nil {
		t.Error(err)
	}
}
