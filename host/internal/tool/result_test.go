package tool_test

import (
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/tool"
)

// TestResultOf makes results of what functions return.
func TestResultOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		out              any
		text, structured string
	}{
		"text":   {"a < b", "a < b", ""},
		"result": {abi.ToolResult{Content: []abi.Block{abi.TextBlock("as it is")}}, "as it is", ""},
		"value":  {map[string]string{"a": "<b>"}, `{"a":"<b>"}`, `{"a":"<b>"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := tool.ResultOf(test.out)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Content) != 1 || r.Content[0].Text != test.text || string(r.Structured) != test.structured {
				t.Errorf("got %+v with %s", r.Content, r.Structured)
			}
		})
	}
	if _, err := tool.ResultOf(func() {}); abi.CodeOf(err) != abi.CodeInternal {
		t.Errorf("a function is a result: %v", err)
	}
}
