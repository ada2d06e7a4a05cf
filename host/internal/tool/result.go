package tool

import (
	"bytes"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
)

// ResultOf makes the result of a tool from what a Go function returned: a string becomes
// text, an [abi.ToolResult] stays as it is, and anything else becomes JSON, both as text and
// structured.
func ResultOf(out any) (abi.ToolResult, error) {
	switch out := out.(type) {
	case abi.ToolResult:
		return out, nil
	case string:
		return abi.ToolResult{Content: []abi.Block{abi.TextBlock(out)}}, nil
	}
	b, err := encodeJSON(out)
	if err != nil {
		return abi.ToolResult{}, abi.Errorf(abi.CodeInternal, "encoding the result: %w", err)
	}
	return abi.ToolResult{Content: []abi.Block{abi.TextBlock(string(b))}, Structured: b}, nil
}

// encodeJSON encodes without escaping for HTML, which models read badly.
func encodeJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
