package modelschema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/modelschema"
)

// object is a schema with one property, which is called a.
func object(a string) string { return `{"type":"object","properties":{"a":` + a + `}}` }

// listed are so many values of an enum, each with so many characters.
func listed(n, length int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("%0*d", length, i)
	}
	return `{"enum":["` + strings.Join(values, `","`) + `"]}`
}

// nested is a schema of so many levels, the root among them.
func nested(levels int) string {
	return strings.Repeat(`{"type":"object","properties":{"a":`, levels-1) + `{"type":"string"}` + strings.Repeat("}}", levels-1)
}

// TestWhatCannotBeStrict has schemas that no API could hold a model to, or that would then
// mean something else, beside the nearest that can be strict.
func TestWhatCannotBeStrict(t *testing.T) {
	t.Parallel()
	both := []modelschema.API{modelschema.Anthropic, modelschema.OpenAI}
	for name, tt := range map[string]struct {
		strict, not string
		apis        []modelschema.API
	}{
		"levels":                {nested(10), nested(11), both},
		"values":                {object(listed(250, 9)), object(`{"anyOf":[` + strings.Repeat(listed(250, 9)+",", 4) + listed(1, 9) + `]}`), both},
		"a long enum":           {object(listed(251, 57)), object(listed(251, 58)), both},
		"an open object":        {object(`{"type":"object","properties":{},"additionalProperties":false}`), object(`{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`), both},
		"beside a reference":    {`{"$defs":{"x":{"type":"string"}},"type":"object","properties":{"a":{"$ref":"#/$defs/x","title":"T"}}}`, `{"$defs":{"x":{"type":"string"}},"type":"object","properties":{"a":{"$ref":"#/$defs/x","minLength":1}}}`, both},
		"a cycle":               {object(`{"type":"string"}`), object(`{"$ref":"#"}`), both},
		"what a null would be":  {object(`{"anyOf":[{"type":"object","properties":{"x":{"type":"string"}}},{"type":"string"}]}`), object(`{"anyOf":[{"type":"object","properties":{"x":{"type":"string"}}},{"type":"object","properties":{"y":{"type":"string"}}}]}`), both[1:]},
		"a type not said":       {object(`{"const":"x"}`), object(`{"description":"x"}`), both},
		"a root that is more":   {`{"type":"object","properties":{}}`, `{"type":["object","null"],"properties":{}}`, both},
		"required, not there":   {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`, both},
		"values of no scalar":   {object(`{"enum":["x"]}`), object(`{"enum":["x",[]]}`), both},
		"items that are a list": {object(`{"type":"array","items":{"type":"string"}}`), object(`{"type":"array","items":[{"type":"string"}]}`), both},
	} {
		for _, api := range tt.apis {
			if _, err := modelschema.Strict(tt.strict, api); err != nil {
				t.Errorf("%s, %d: %v: %.200s", name, api, err, tt.strict)
			}
			if s, err := modelschema.Strict(tt.not, api); err == nil {
				t.Errorf("%s, %d: %.200s became %.200s", name, api, tt.not, s.JSON)
			}
		}
	}
}

// TestPlain takes out at the root what an API refuses there, and nothing else.
func TestPlain(t *testing.T) {
	t.Parallel()
	const schema = `{"type": "object", "enum": [{"a": 1}], "any\u004ff": [{}], "properties": {"a": {"anyOf": [{}], "enum": [1]}}}`
	for api, want := range map[modelschema.API][2]string{
		modelschema.Anthropic: {`{"type":"object","enum":[{"a":1}],"properties":{"a":{"anyOf":[{}],"enum":[1]}}}`, `{"anyOf":[{}]}`},
		modelschema.OpenAI:    {`{"type":"object","properties":{"a":{"anyOf":[{}],"enum":[1]}}}`, `{"enum":[{"a":1}],"anyOf":[{}]}`},
	} {
		if plain, rest, err := modelschema.Plain(schema, api); err != nil || string(plain) != want[0] || rest != want[1] {
			t.Errorf("%d: got %s, %s, %v", api, plain, rest, err)
		}
	}
	if plain, rest, err := modelschema.Plain(`{"any\u004ff": [], "type": "object"}`, modelschema.Anthropic); string(plain) != `{"type":"object"}` || rest != `{"anyOf":[]}` {
		t.Errorf("got %s, %s, %v", plain, rest, err)
	}
}

// TestBudget counts tools, optional properties and unions, each over all tools.
func TestBudget(t *testing.T) {
	t.Parallel()
	properties := func(n int, schema string) string {
		var list, names []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"p%d":%s`, i, schema))
			names = append(names, fmt.Sprintf(`"p%d"`, i))
		}
		s := `{"type":"object","properties":{` + strings.Join(list, ",") + `}`
		if schema != `{"type":"string"}` {
			s += `,"required":[` + strings.Join(names, ",") + `]`
		}
		return s + "}"
	}
	const optional, union = `{"type":"string"}`, `{"type":["string","null"]}`
	for schema, fit := range map[string]int{
		properties(0, union): 20, properties(12, optional): 2, properties(5, optional): 4, properties(8, union): 2, properties(5, union): 3,
		properties(17, union): 0,
	} {
		for api, want := range map[modelschema.API]int{modelschema.Anthropic: fit, modelschema.OpenAI: 30} {
			s, err := modelschema.Strict(schema, api)
			if err != nil {
				t.Fatal(err)
			}
			budget, got := modelschema.NewBudget(api), 0
			for got < 30 && budget.Take(s) {
				got++
			}
			if got != want {
				t.Errorf("%d: %d tools fit, want %d: %s", api, got, want, schema)
			}
		}
	}
}
