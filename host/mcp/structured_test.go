package mcp

import (
	"encoding/json"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

func TestWithText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ structured, text, want string }{
		"counts beside a text":      {`{"files":2}`, "a.txt\nb.txt", `{"files":2,"text":"a.txt\nb.txt"}`},
		"nothing beside a text":     {`{}`, "done", `{"text":"done"}`},
		"the same in another form":  {`{"n": 1}`, "{ \"n\" : 1 }\n", `{"n": 1}`},
		"other JSON":                {`{"n":1}`, `{"n":2}`, `{"n":1,"text":"{\"n\":2}"}`},
		"a text of the tool's own":  {`{"text":"x"}`, "y", `{"text":"x"}`},
		"no text":                   {`{"n":1}`, "", `{"n":1}`},
		"no object":                 {`[1]`, "one", `[1]`},
		"blanks around the content": {" {\"n\":1}\n", "x", `{"n":1,"text":"x"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := json.RawMessage(tt.structured)
			content := []abi.Block{{Type: abi.BlockText, Text: tt.text}, {Type: abi.BlockImage}}
			if got := withText(before, content); string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if string(before) != tt.structured {
				t.Errorf("the result's own content became %s", before)
			}
		})
	}
}

func TestSchemaWithText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		schema  string
		changed bool
	}{
		"an object":         {`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`, true},
		"no properties":     {`{"type":"object"}`, true},
		"a text of its own": {`{"type":"object","properties":{"text":{"type":"integer"}}}`, false},
		"a truth value":     {`true`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := schemaWithText(json.RawMessage(tt.schema))
			var s struct {
				Properties map[string]struct{ Type string }
			}
			if !tt.changed {
				if string(got) != tt.schema {
					t.Errorf("it became %s", got)
				}
				return
			}
			if err := json.Unmarshal(got, &s); err != nil || s.Properties["text"].Type != "string" {
				t.Errorf("it became %s, %v", got, err)
			}
		})
	}
}
