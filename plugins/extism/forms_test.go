package extism_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// TestForms has a guest answer with the very bytes that it gets.
func TestForms(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "guest.wasm"), limits, "echo")
	text := func(s ...string) (blocks []abi.Block) {
		for _, s := range s {
			blocks = append(blocks, abi.TextBlock(s))
		}
		return blocks
	}
	field := func(value string) string {
		b, err := json.Marshal(map[string]string{"a": value, "b": "other"})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	tests := map[string]struct {
		input  string // the field
		output abi.OutputForm
		schema string
		given  string

		content    []abi.Block
		structured string
		meta       string
		isError    bool
		fault      string
	}{
		"as it was":          {given: `{"a":"x"}`, content: text(`{"a":"x"}`)},
		"a string":           {input: "a", given: field("line\n\"ä\""), content: text("line\n\"ä\"")},
		"a number":           {input: "a", given: `{"a":1.50}`, content: text("1.50")},
		"an object":          {input: "a", given: `{"a":{"b":[1,null]},"c":2}`, content: text(`{"b":[1,null]}`)},
		"a field left out":   {input: "a", given: `{"b":"x"}`, content: text("")},
		"text that is JSON":  {input: "a", output: abi.OutputText, given: field(`{"n":1}`), content: text(`{"n":1}`)},
		"JSON":               {input: "a", output: abi.OutputJSON, given: field(`{"n": 1, "a":2}`), content: text(`{"n": 1, "a":2}`), structured: `{"a":2,"n":1}`},
		"a schema":           {input: "a", schema: `{"type":"object"}`, given: field(`{}`), content: text(`{}`), structured: `{}`},
		"no JSON":            {input: "a", output: abi.OutputJSON, given: field("{"), fault: `has output = "json" in its manifest, but its output is not JSON`},
		"no JSON for schema": {input: "a", schema: `{"type":"object"}`, given: field("{"), fault: `has an output schema, but its output is not JSON`},
		"MCP": {
			input: "a", output: abi.OutputMCP,
			given:   field(`{"content":[{"type":"text","text":"hi","annotations":{}},{"type":"image","data":"AQI=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"file:///a","text":"in it"}},{"type":"resource","resource":{"uri":"file:///b.pdf","mimeType":"application/pdf","blob":"Aw=="}},{"type":"resource_link","name":"a","uri":"file:///a"}],"structuredContent":{"n":1},"isError":true}`),
			content: []abi.Block{abi.TextBlock("hi"), {Type: abi.BlockImage, MediaType: "image/png", Data: []byte{1, 2}}, abi.TextBlock("in it"), {Type: abi.BlockDocument, MediaType: "application/pdf", Title: "file:///b.pdf", Data: []byte{3}}, abi.TextBlock("a: file:///a")},
			isError: true, structured: `{"n":1}`,
		},
		"MCP of structure alone": {input: "a", output: abi.OutputMCP, given: field(`{"structuredContent":[1]}`), content: text("[1]"), structured: "[1]"},
		"MCP of nulls": {
			input: "a", output: abi.OutputMCP, given: field(`{"content":[{"type":"text","text":"hi"}],"structuredContent":null,"_meta":null}`),
			content: text("hi"),
		},
		"MCP with meta": {
			input: "a", output: abi.OutputMCP, given: field(`{"content":[],"_meta":{"b":1,"a":2}}`), meta: `{"a":2,"b":1}`,
		},
		"MCP without content": {input: "a", output: abi.OutputMCP, given: field(`{"isError":true}`), fault: "its output is no CallToolResult: it has neither content nor structuredContent"},
		"MCP of another type": {input: "a", output: abi.OutputMCP, given: field(`{"content":[{"type":"audio","data":"AQ==","mimeType":"audio/wav"}]}`), fault: `content[0]: the type "audio" is none of`},
		"MCP of too many blocks": {
			input: "a", output: abi.OutputMCP, given: field(`{"content":[` + strings.Repeat(`{"type":"text"},`, abi.MaxBlocks) + `{"type":"text"}]}`),
			fault: fmt.Sprintf("it has %d content blocks, over the limit of %d", abi.MaxBlocks+1, abi.MaxBlocks),
		},
		"MCP of no type": {
			input: "a", output: abi.OutputMCP, given: field(`{"content":[{"type":"image","data":"AQ=="}]}`), fault: "content[0]: the mimeType or the data is missing",
		},
		"MCP of no data":      {input: "a", output: abi.OutputMCP, given: field(`{"content":[{"type":"image","mimeType":"image/png"}]}`), fault: "content[0]: the mimeType or the data is missing"},
		"MCP that is text":    {input: "a", output: abi.OutputMCP, given: field("hello"), fault: "its output is no CallToolResult"},
		"MCP of a wrong type": {input: "a", output: abi.OutputMCP, given: field(`{"content":"hello"}`), fault: "its output is no CallToolResult"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inv := invocation("echo")
			inv.Tool.Input, inv.Tool.Output, inv.Tool.OutputSchema = test.input, test.output, test.schema
			inv.Input = json.RawMessage(test.given)
			got, err := guest.Call(t.Context(), inv)
			if test.fault != "" {
				wantError(t, err, abi.CodeProtocol, test.fault)
				return
			}
			if err != nil || !reflect.DeepEqual(got.Content, test.content) || string(got.Structured) != test.structured || string(got.Meta) != test.meta || got.IsError != test.isError {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
