package stream_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message/stream"
)

// TestNestedLines has every line about a call that a call made tell of that one, and how
// deep it is; those of the model's own calls tell of neither.
func TestNestedLines(t *testing.T) {
	t.Parallel()
	var session *host.Session
	tool := func(name, calls string) host.NativeTool {
		contract := abi.Tool{Name: name, InputSchema: `{"type":"object"}`, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue}
		return host.NativeTool{Contract: contract, Run: func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
			if calls != "" {
				session.Results(ctx, []abi.ToolUse{{ID: "under-" + c.ID, Name: calls}})
			}
			return abi.ToolResult{}, nil
		}}
	}
	var mu sync.Mutex
	reporters := make(map[string]*stream.Reporter) // one a turn
	lines := make(map[string][]string)             // by call
	h, err := host.Open(t.Context(), host.Options{
		Tools: []host.NativeTool{tool("Outer", "Middle"), tool("Middle", "Inner"), tool("Inner", "")},
		Observe: host.ObserveOptions{Events: func(e host.Event) {
			mu.Lock()
			defer mu.Unlock()
			if reporters[e.Turn] == nil {
				reporters[e.Turn] = stream.NewReporter(1)
			}
			line := reporters[e.Turn].Line(e)
			if line == nil || e.CallID == "" {
				return
			}
			text, err := json.Marshal(line)
			if err != nil {
				t.Error(err)
			}
			lines[e.CallID] = append(lines[e.CallID], string(text))
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(t.Context())
	if session, err = h.NewSession(host.SessionOptions{Cwd: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	session.Results(t.Context(), []abi.ToolUse{{ID: "1", Name: "Outer"}})
	for call, want := range map[string]string{
		"1": "", "under-1": `"parent":"1","depth":1`, "under-under-1": `"parent":"under-1","depth":2`,
	} {
		var kinds []string
		for _, line := range lines[call] {
			var head stream.Head
			if err := json.Unmarshal([]byte(line), &head); err != nil {
				t.Error(err)
			}
			kinds = append(kinds, head.Type)
			if !strings.Contains(line, want) || want == "" && strings.Contains(line, `"depth"`) {
				t.Errorf("%s: got %s; want %s", call, line, want)
			}
		}
		if !slices.Equal(kinds, []string{"queued", "started", "result"}) {
			t.Errorf("%s has the lines %s", call, kinds)
		}
	}
}
