package host_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/display"
	"github.com/toolquay/toolquay/internal/testenv"
)

const (
	searchInput  = `{"glob":"*.go","path":"/srv/data49","pattern":"TODO|FIXME"}`
	searchAnswer = `{"files":["a.go","b.go"],"matches":17,"num_files":2,"truncated":false}`
)

var searchLines = abi.Lines{
	Queued: "will look for {pattern}", Use: "{pattern}[ in {path}][ ({glob})][ after {offset}]",
	Result: "{result.matches|match|matches} in {result.num_files|file}[ ({result.truncated?and more})]",
}

// rendered makes all lines of a call that goes well.
func rendered(tool *abi.Tool, r *abi.ToolResult) string {
	var fields map[string]json.RawMessage
	c := display.Call{Tool: tool, Cwd: "/srv", Fields: func() (map[string]json.RawMessage, error) {
		if fields == nil { // as the pipeline has them, decoded once
			_ = json.Unmarshal([]byte(searchInput), &fields)
		}
		return fields, nil
	}}
	return c.Queued() + "; " + c.Use() + "; " + c.Ended(r)
}

// TestLinesCostLittle compares what the lines of a call cost with the whole call of a native
// tool, which is the cheapest there is.
func TestLinesCostLittle(t *testing.T) {
	const calls, renderings, part = 300, 10_000, 5
	tool := painter(func(*host.Call) (abi.ToolResult, error) {
		return abi.ToolResult{Content: []abi.Block{abi.TextBlock("ok")}, Structured: json.RawMessage(searchAnswer)}, nil
	})
	tool.Contract = abi.Tool{
		Name: "Search", ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue, Lines: searchLines,
		InputSchema: `{"type":"object","properties":{"pattern":{},"path":{"type":"string"},"glob":{},"offset":{}}}`,
		Fields:      []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectRead}},
	}
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{tool}}), host.SessionOptions{Cwd: "/srv"})
	best := func(measure func() time.Duration) time.Duration {
		least := measure()
		for range 4 {
			least = min(least, measure())
		}
		return least
	}
	whole := best(func() time.Duration {
		return testenv.Took(func() {
			for range calls {
				for e := range s.Call(t.Context(), use("1", "Search", searchInput)) {
					if e.Kind == host.EventResult && e.Line != "17 matches in 2 files" {
						t.Fatalf("%q: %s", e.Line, e.Result.Text())
					}
				}
			}
		})
	}) / calls
	result := abi.ToolResult{Structured: json.RawMessage(searchAnswer)}
	lines := best(func() time.Duration {
		return testenv.Work(func() {
			for range renderings {
				rendered(&tool.Contract, &result)
			}
		})
	}) / renderings
	t.Logf("a call takes %v, its lines %v", whole, lines)
	if lines > whole/part {
		t.Errorf("the lines of a call take %v, and the call %v: more than a part in %d", lines, whole, part)
	}
}

func BenchmarkLines(b *testing.B) {
	tool := &abi.Tool{Lines: searchLines, Fields: []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectRead}}}
	result := abi.ToolResult{Structured: json.RawMessage(searchAnswer)}
	b.ReportAllocs()
	for b.Loop() {
		rendered(tool, &result)
	}
}
