package modelschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// API is a model API with rules of its own for schemas.
type API int

// The APIs.
const (
	Anthropic API = iota
	OpenAI
)

// notAtRoot are the keywords that the APIs refuse at the root of any tool's schema.
var notAtRoot = map[API][]string{
	Anthropic: {"anyOf", "oneOf", "allOf"},
	OpenAI:    {"anyOf", "oneOf", "allOf", "not", "enum"},
}

// Plain is a tool's schema for an API that is not asked to hold the model to it:
// compact, and in the author's order. Keywords that the API refuses at the root are
// taken out; rest is a schema of those alone, empty where there are none.
func Plain(schema string, api API) (plain json.RawMessage, rest string, err error) {
	mayBe := func(key string) bool { return strings.Contains(schema, `"`+key+`"`) }
	if !slices.ContainsFunc(notAtRoot[api], mayBe) && !strings.Contains(schema, `\u`) {
		var compact bytes.Buffer
		err := json.Compact(&compact, []byte(schema))
		return compact.Bytes(), "", err
	}
	root, err := parse(schema)
	if err != nil {
		return nil, "", err
	}
	var kept, out object
	for _, m := range root {
		if slices.Contains(notAtRoot[api], m.key) {
			out = append(out, m)
		} else {
			kept = append(kept, m)
		}
	}
	if len(out) > 0 {
		rest = text(out)
	}
	return json.RawMessage(text(kept)), rest, nil
}
