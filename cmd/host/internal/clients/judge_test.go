package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	schema := func(more map[string]any) map[string]any {
		s := map[string]any{"type": "object", "properties": map[string]any{}}
		maps.Copy(s, more)
		return s
	}
	properties := func(p map[string]any) map[string]any { return schema(map[string]any{"properties": p}) }
	tests := map[string]struct {
		client string
		tool   mcp.Tool
		want   string // empty: taken as it is
		drop   bool
	}{
		"a plain tool":             {"cursor", mcp.Tool{Name: "Read", InputSchema: schema(nil)}, "", false},
		"a dot":                    {"claude-code", mcp.Tool{Name: "a.b", InputSchema: schema(nil)}, "its name has '.'", true},
		"a dot is shortened":       {"codex", mcp.Tool{Name: "a.b", InputSchema: schema(nil)}, "its name has '.'", false},
		"a dot is taken":           {"gemini", mcp.Tool{Name: "a.b", InputSchema: schema(nil)}, "", false},
		"59 characters":            {"cursor", mcp.Tool{Name: strings.Repeat("a", 59-len("toolquay:")), InputSchema: schema(nil)}, "", false},
		"60 characters":            {"cursor", mcp.Tool{Name: strings.Repeat("a", 60-len("toolquay:")), InputSchema: schema(nil)}, "60 characters of at most 59", true},
		"a long name is shortened": {"gemini", mcp.Tool{Name: strings.Repeat("a", 64), InputSchema: schema(nil)}, "at most 63", false},
		"a long description":       {"claude-code", mcp.Tool{Name: "a", Description: strings.Repeat("a", 2049), InputSchema: schema(nil)}, "cut at 2048", false},
		"it is no matter to Zed":   {"zed", mcp.Tool{Name: "a", Description: strings.Repeat("a", 2049), InputSchema: schema(nil)}, "", false},
		"no schema":                {"zed", mcp.Tool{Name: "a"}, "input schema is not of the type object", true},
		"an output without type":   {"zed", mcp.Tool{Name: "a", InputSchema: schema(nil), OutputSchema: map[string]any{}}, "output schema is not", true},
		"a union at the top":       {"claude-code", mcp.Tool{Name: "a", InputSchema: schema(map[string]any{"anyOf": []any{}})}, "has anyOf at the top", true},
		"a union further in":       {"claude-code", mcp.Tool{Name: "a", InputSchema: properties(map[string]any{"x": map[string]any{"anyOf": []any{}}})}, "", false},
		"an array without items":   {"vscode", mcp.Tool{Name: "a", InputSchema: properties(map[string]any{"x": map[string]any{"type": "array"}})}, "#/properties/x", true},
		"a reference":              {"gemini", mcp.Tool{Name: "a", InputSchema: properties(map[string]any{"x": map[string]any{"$ref": "#/$defs/x"}})}, "$ref at #/properties/x", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := Find(tt.client)
			if err != nil {
				t.Fatal(err)
			}
			got := client.Judge("toolquay", []*mcp.Tool{&tt.tool})
			if tt.want == "" {
				if len(got) > 0 {
					t.Errorf("got %+v, want nothing", got)
				}
				return
			}
			if len(got) != 1 || !strings.Contains(got[0].Why, tt.want) || got[0].Dropped != tt.drop {
				t.Errorf("got %+v, want %q, dropped %t", got, tt.want, tt.drop)
			}
		})
	}
}

func TestJudgeMany(t *testing.T) {
	t.Parallel()
	var tools []*mcp.Tool
	for i := range 42 {
		tools = append(tools, &mcp.Tool{Name: fmt.Sprintf("t%d", i), InputSchema: map[string]any{"type": "object"}})
	}
	client, err := Find("cursor")
	if err != nil {
		t.Fatal(err)
	}
	var dropped []string
	for _, v := range client.Judge("toolquay", tools) {
		dropped = append(dropped, v.Tool)
	}
	if !slices.Equal(dropped, []string{"t40", "t41"}) {
		t.Errorf("Cursor drops %q", dropped)
	}
}
