package schemas_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/internal/schemas"
)

const plainSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"T","type":"object","properties":{
	"path":{"type":"string","minLength":1,"maxLength":3},
	"text":{"type":["string","null"],"description":"any"},
	"mode":{"enum":["fast","säfe"]},
	"limit":{"type":"integer","minimum":-1,"maximum":100,"default":5},
	"number":{"type":"number"},
	"deep":{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]},
	"list":{"type":"array"},
	"names":{"type":"array","items":{"type":"string","minLength":1}},
	"pairs":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},
	"float":{"type":"number","minimum":0.5},
	"never":false
},"required":["path"],"additionalProperties":false}`

// What is accepted without the library, and what is left to it, valid or not.
func TestPlainSchema(t *testing.T) {
	t.Parallel()
	const accepted, valid, invalid = "accepted", "valid", "invalid"
	s := compile(t, plainSchema)
	for input, want := range map[string]string{
		`{"path":"a"}`:   accepted,
		`{"path":"äöü"}`: accepted,
		`{"deep":{"on":true},"limit":100,"mode":"säfe","number":-7,"path":"abc","text":"\"\\"}`: accepted,
		`{"limit":-1,"path":"a","text":null}`:                                                   accepted,
		`{"number":999999999999999,"path":"a"}`:                                                 accepted,
		`{"number":1000000000000000,"path":"a"}`:                                                valid, // too many digits
		`{"number":1.5,"path":"a"}`:                                                             valid,
		`{"number":1e5,"path":"a"}`:                                                             valid,
		`{"path":"\n"}`:                                                                         valid, // an escape counts as one character
		`{"path":"\n\n\n"}`:                                                                     valid,
		`{"list":[],"path":"a"}`:                                                                valid,
		`{"names":[],"path":"a"}`:                                                               accepted,
		`{"names":["a"],"path":"a"}`:                                                            accepted,
		`{"names":["a","b"],"pairs":[[1,2],[],[3]],"path":"a"}`:                                 accepted,
		`{"names":["a",""],"path":"a"}`:                                                         invalid,
		`{"names":["a",1],"path":"a"}`:                                                          invalid,
		`{"names":"a","path":"a"}`:                                                              invalid,
		`{"pairs":[1],"path":"a"}`:                                                              invalid,
		`{"pairs":[[1.5]],"path":"a"}`:                                                          invalid,
		`{"pairs":[[1.0]],"path":"a"}`:                                                          valid,
		`{"float":1,"path":"a"}`:                                                                valid,
		`{}`:                                                                                    invalid,
		`[]`:                                                                                    invalid,
		`"path"`:                                                                                invalid,
		`{"path":""}`:                                                                           invalid,
		`{"path":"abcd"}`:                                                                       invalid,
		`{"path":1}`:                                                                            invalid,
		`{"path":null}`:                                                                         invalid,
		`{"path":{}}`:                                                                           invalid,
		`{"path":true}`:                                                                         invalid,
		`{"mode":"slow","path":"a"}`:                                                            invalid,
		`{"mode":1,"path":"a"}`:                                                                 invalid,
		`{"mode":true,"path":"a"}`:                                                              invalid,
		`{"mode":{},"path":"a"}`:                                                                invalid,
		`{"limit":101,"path":"a"}`:                                                              invalid,
		`{"limit":-2,"path":"a"}`:                                                               invalid,
		`{"limit":1.5,"path":"a"}`:                                                              invalid,
		`{"limit":"1","path":"a"}`:                                                              invalid,
		`{"deep":{},"path":"a"}`:                                                                invalid,
		`{"deep":{"on":1},"path":"a"}`:                                                          invalid,
		`{"float":0,"path":"a"}`:                                                                invalid,
		`{"never":1,"path":"a"}`:                                                                invalid,
		`{"other":1,"path":"a"}`:                                                                invalid,
		`{"path":"a","text":false}`:                                                             invalid,
		`{"deep":{"on":true,"path":"a"},"limit":3}`:                                             invalid,
		`{"deep":{"on":false},"path":"a","text":"\t"}`:                                          accepted,
	} {
		checkPlain(t, s, input, want == accepted, want != invalid)
	}
}

// Schemas that say what is not plain, with an input that would do if it were not
// there; a property that is not plain leaves the others plain.
func TestSchemasThatAreNotPlain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema, input   string
		accepted, valid bool
	}{
		{`{}`, `{}`, true, true},
		{`{}`, `7`, true, true},
		{`{"type":"object"}`, `{"a":1}`, false, true},
		{`{"additionalProperties":{"type":"string"}}`, `{"a":1}`, false, false},
		{`{"not":{}}`, `{}`, false, false},
		{`{"const":1}`, `2`, false, false},
		{`{"items":{"type":"string"}}`, `["a"]`, true, true},
		{`{"items":false}`, `[]`, false, true},
		{`{"items":{},"minItems":1}`, `[]`, false, false},
		{`{"items":{},"uniqueItems":true}`, `[1,1]`, false, false},
		{`{"prefixItems":[false],"items":{}}`, `[1]`, false, false},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[false]}`, `[1]`, false, false},
		{`{"enum":[1,2]}`, `2`, false, true},
		{`{"enum":["a",2]}`, `"a"`, false, true},
		{`{"exclusiveMinimum":1}`, `1`, false, false},
		{`{"minimum":1.5}`, `1`, false, false},
		{`{"minProperties":1}`, `{}`, false, false},
		{`{"propertyNames":false,"properties":{"a":{}}}`, `{"a":1}`, false, false},
		{`{"patternProperties":{"a":false},"properties":{"a":{}}}`, `{"a":1}`, false, false},
		{`{"dependentRequired":{"a":["b"]},"properties":{"a":{}}}`, `{"a":1}`, false, false},
		{`{"required":["b"],"properties":{"a":{}}}`, `{"a":1}`, false, false},
		{`{"$ref":"#/$defs/x","$defs":{"x":false}}`, `1`, false, false},
		{`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"string"}}}`, `{"b":"x"}`, true, true},
		{`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"string"}}}`, `{"a":1}`, false, false},
		// A name and a value that another one is written as.
		{`{"properties":{"\\n":{}},"additionalProperties":false}`, `{"\n":1}`, false, false},
		{`{"enum":["\\n"]}`, `"\n"`, false, false},
		{`{"enum":["\n"]}`, `"\n"`, false, true},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","minimum":1}`, `1`, true, true},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1}`, `1`, false, true},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"ipv4"}`, `"x"`, false, false},
		// A pattern elsewhere limits how long texts may be.
		{`{"properties":{"a":{},"b":{"pattern":"x+"}}}`, `{"a":1}`, false, true},
	} {
		checkPlain(t, compile(t, tt.schema), tt.input, tt.accepted, tt.valid)
	}
}

func checkPlain(t *testing.T, s *schemas.Schema, input string, accepted, valid bool) {
	t.Helper()
	canonical, err := abi.Canonical([]byte(input))
	if err != nil || string(canonical) != input {
		t.Fatalf("%s is not canonical (%v)", input, err)
	}
	if got := s.PlainlyAccepts(canonical); got != accepted {
		t.Errorf("%s: accepted %v, want %v", input, got, accepted)
	}
	if err := s.Examine(canonical); (err == nil) != valid {
		t.Errorf("%s: the library says %v, want valid %v", input, err, valid)
	}
	if err := s.Validate(canonical); (err == nil) != valid {
		t.Errorf("%s: Validate says %v, want valid %v", input, err, valid)
	}
}

// TestPlainSchemaReadsNoFurther than the end of what it is given, however that ends.
func TestPlainSchemaReadsNoFurther(t *testing.T) {
	t.Parallel()
	s := compile(t, plainSchema)
	const input = `{"deep":{"on":true},"limit":-10,"mode":"fast","path":"abc","text":"\"\\"}`
	for end := range len(input) {
		if s.PlainlyAccepts([]byte(input[:end])) {
			t.Errorf("%s is accepted", input[:end])
		}
		if s.PlainlyAccepts([]byte(input + input[end:])) {
			t.Errorf("%s is accepted", input+input[end:])
		}
	}
	if s.PlainlyAccepts([]byte(`{"path":"a","path":"b"}`)) {
		t.Error("an object with one name twice is accepted")
	}
}

// agree fails where the plain form accepts what the library does not.
func agree(t *testing.T, schema, input string) (accepted, valid bool) {
	t.Helper()
	s, err := schemas.Compile("T", schema)
	if err != nil {
		return false, false
	}
	canonical, err := abi.Canonical([]byte(input))
	if err != nil {
		return false, false
	}
	accepted = s.PlainlyAccepts(canonical)
	err = s.Examine(canonical)
	if accepted && err != nil {
		t.Fatalf("%s is accepted by %s; the library says %v", canonical, schema, err)
	}
	return accepted, err == nil
}

// TestPlainSchemaAgrees with the library on made-up schemas, half of whose inputs
// are made after them.
func TestPlainSchemaAgrees(t *testing.T) {
	t.Parallel()
	m := maker{rand.New(rand.NewPCG(1, 2))}
	yes, no, left := 0, 0, 0
	pairs := testenv.Sample(20_000)
	for range pairs {
		schema := m.schema(3)
		input := m.value(schema, 3)
		accepted, valid := agree(t, encode(t, schema), encode(t, input))
		switch {
		case accepted:
			yes++
		case valid:
			left++
		default:
			no++
		}
	}
	t.Logf("%d accepted, %d valid ones left to the library, %d invalid", yes, left, no)
	if min(yes, no, left) < pairs/20 {
		t.Error("the made-up pairs are one-sided")
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// maker makes up schemas of few names and values, and inputs that come near them.
type maker struct{ *rand.Rand }

func (m maker) one(of ...any) any { return of[m.IntN(len(of))] }

func (m maker) name() string { return m.one("a", "b", "ä", `\n`, "\n", `"`).(string) }

func (m maker) number() json.Number {
	return m.one(json.Number("0"), json.Number("-0"), json.Number("1"), json.Number("-1"), json.Number("2"), json.Number("1.0"), json.Number("1.5"), json.Number("1e0"),
		json.Number("999999999999999"), json.Number("9999999999999999"), json.Number("9223372036854775808")).(json.Number)
}

func (m maker) schema(depth int) any {
	s := map[string]any{}
	for range m.IntN(4) {
		switch m.IntN(13) {
		case 12:
			if depth > 0 {
				s["items"] = m.schema(depth - 1)
			}
		case 0, 1, 2:
			s["type"] = m.one("string", "integer", "number", "boolean", "null", "object", "array", []string{"string", "null"}, []string{"object", "integer"})
		case 3:
			s["enum"] = m.one([]any{"a", "b"}, []any{"a", 1}, []any{`\n`}, []any{"\n", "a"}, []any{""})
		case 4:
			s[m.one("minimum", "maximum", "exclusiveMinimum", "multipleOf").(string)] = m.one(1, 2, json.Number("0.5"), 100)
		case 5:
			s[m.one("minLength", "maxLength", "maxProperties").(string)] = m.IntN(3)
		case 6, 7, 8:
			if depth == 0 {
				continue
			}
			properties := map[string]any{}
			for range m.IntN(4) {
				properties[m.name()] = m.schema(depth - 1)
			}
			s["properties"] = properties
		case 9:
			s["required"] = []string{m.name()}
		case 10:
			s["additionalProperties"] = m.one(true, false, map[string]any{"type": "string"})
		case 11:
			s[m.one("title", "format", "const", "pattern").(string)] = m.one("a", "^a")
		}
	}
	if depth < 3 && m.IntN(12) == 0 {
		return m.one(true, false)
	}
	return s
}

func (m maker) value(schema any, depth int) any {
	s, _ := schema.(map[string]any)
	properties, isObject := s["properties"].(map[string]any)
	if isObject && m.IntN(8) > 0 {
		object := map[string]any{}
		for name, schema := range properties {
			if m.IntN(3) > 0 {
				object[name] = m.value(schema, depth-1)
			}
		}
		if m.IntN(4) == 0 {
			object[m.name()] = m.number()
		}
		return object
	}
	if items, isArray := s["items"]; isArray && m.IntN(8) > 0 {
		array := []any{}
		for range m.IntN(4) {
			array = append(array, m.value(items, depth-1))
		}
		return array
	}
	switch m.IntN(5) {
	case 0:
		return m.one(nil, true, false, []any{}, []any{1}, map[string]any{})
	case 1:
		return m.number()
	}
	return m.one("", "a", "b", "\n", `\n`, "ää", strings.Repeat("x", 3), m.name())
}

func FuzzPlainSchema(f *testing.F) {
	for _, schema := range []string{plainSchema, editSchema, bashSchema, `{"enum":["\\n","a"]}`, `{"items":{"items":{"type":"string"}}}`} {
		for _, input := range []string{
			`{"path":"a"}`, `{"path":"abc","limit":1e0,"mode":"fast","deep":{"on":true}}`, `{"command":"ls\n","timeout":-0}`,
			`{"file_path":"","edits":[]}`, `"\\n"`, `{"text":"\u0000","path":"\ud83d\ude00"}`,
		} {
			f.Add(schema, input)
		}
	}
	m := maker{rand.New(rand.NewPCG(3, 4))}
	for range 50 {
		schema := m.schema(3)
		text, _ := json.Marshal(schema)
		input, _ := json.Marshal(m.value(schema, 3))
		f.Add(string(text), string(input))
	}
	f.Fuzz(func(t *testing.T, schema, input string) { agree(t, schema, input) })
}

// TestPlainSchemaTakesNoMemory: it is there to be quick.
func TestPlainSchemaTakesNoMemory(t *testing.T) {
	s := compile(t, plainSchema)
	input := json.RawMessage(fmt.Sprintf(`{"deep":{"on":true},"mode":"fast","path":"abc","text":%q}`, strings.Repeat("x", 1000)))
	if n := testing.AllocsPerRun(100, func() { _ = s.Validate(input) }); n != 0 {
		t.Errorf("validating took %v allocations", n)
	}
}
