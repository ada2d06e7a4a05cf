package modelschema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/modelschema"
)

// FuzzStrict writes any schema in finite time and room, as JSON whose root is an object, and
// leaves no alternatives at the root of one that is not strict.
func FuzzStrict(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/a","description":"x"}},"$defs":{"a":{"enum":["a",1,null]}}}`)
	f.Add(`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#"}]}}}`)
	f.Add(`{"type":"object","properties":{"a":{"anyOf":[{"type":["array","null"],"items":{"const":1}},{"type":"string"}]}},"oneOf":[]}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`)
	f.Add(`{"$ref":"#","allOf":[{"type":"object"}]}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/a"}},"b":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"null","description":"` +
		strings.Repeat("long ", 100_000) + `"}}}`)
	f.Add(strings.Repeat(`{"type":"object","properties":{"a":`, 300))
	f.Add(`{"type":"object","any\u004ff":[{"required":["a"]}]}`)
	f.Fuzz(func(t *testing.T, schema string) {
		for _, api := range []modelschema.API{modelschema.Anthropic, modelschema.OpenAI} {
			if s, err := modelschema.Strict(schema, api); err == nil {
				var out struct{ Type string }
				if err := json.Unmarshal(s.JSON, &out); err != nil || out.Type != "object" || len(s.JSON) > 4<<20 {
					t.Errorf("%d: %v: %s", api, err, s.JSON)
				}
			}
			if plain, _, err := modelschema.Plain(schema, api); err == nil {
				var root map[string]any // stays nil where the schema is not an object
				_ = json.Unmarshal(plain, &root)
				if !json.Valid(plain) || root["anyOf"] != nil {
					t.Errorf("%d: %s", api, plain)
				}
			}
		}
	})
}
