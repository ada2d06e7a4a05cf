package schemas_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/internal/schemas"
)

const editSchema = `{
	"type": "object",
	"properties": {
		"file_path": {"type": "string", "minLength": 1},
		"mode": {"enum": ["fast", "safe"]},
		"limit": {"type": "integer", "minimum": 1, "maximum": 100},
		"edits": {"type": "array", "maxItems": 3, "items": {
			"type": "object",
			"properties": {"old_string": {"type": "string"}, "new_string": {"type": "string"}},
			"required": ["old_string", "new_string"],
			"additionalProperties": false
		}},
		"id": {"type": "string", "pattern": "^[a-z]+$"},
		"a b/c~d": {"type": "object", "properties": {"é": {"type": "null"}}},
		"never": false,
		"required": false,
		"either": {"anyOf": [{"type": "string"}, {"type": "array"}]}
	},
	"required": ["file_path"],
	"additionalProperties": false
}`

func compile(tb testing.TB, schema string) *schemas.Schema {
	tb.Helper()
	s, err := schemas.Compile("Edit", schema)
	if err != nil {
		tb.Fatal(err)
	}
	return s.Within(testenv.Patience) // what is tested here is not the clock
}

func TestValidateSaysWhatToChange(t *testing.T) {
	t.Parallel()
	const fields = " (there are a b/c~d, edits, either, file_path, id, limit, mode, never, required)"
	tests := map[string]struct{ input, want string }{
		"missing":            {`{}`, "file_path: required"},
		"unknown field":      {`{"file_path":"a","filepath":"b"}`, "filepath: unknown field" + fields},
		"two unknown fields": {`{"file_path":"a","z":1,"y":1}`, "y: unknown field" + fields + "; z: unknown field" + fields},
		"wrong type":         {`{"file_path":7}`, "file_path: expected string, but got number"},
		"null":               {`{"file_path":null}`, "file_path: expected string, but got null"},
		"enum":               {`{"file_path":"a","mode":"slow"}`, `mode: value must be one of "fast", "safe"`},
		"range":              {`{"file_path":"a","limit":0}`, "limit: must be >= 1 but found 0"},
		"not an integer":     {`{"file_path":"a","limit":1.5}`, "limit: expected integer, but got number"},
		"nested":             {`{"file_path":"a","edits":[{"old_string":"","new_string":""},{"old_string":"","new_string":""},{"old_string":1,"new_string":""}]}`, "edits[2].old_string: expected string, but got number"},
		"nested and missing": {`{"file_path":"a","edits":[{}]}`, "edits[0].new_string: required; edits[0].old_string: required"},
		"nested and unknown": {`{"file_path":"a","edits":[{"old_string":"","new_string":"","x":1}]}`, "edits[0].x: unknown field"},
		"too many":           {`{"file_path":"a","edits":[1,2,3,4]}`, "edits: maximum 3 items required, but found 4 items; edits[0]: expected object, but got number; edits[1]: expected object, but got number; edits[2]: expected object, but got number; edits[3]: expected object, but got number"},
		"pattern":            {`{"file_path":"a","id":"A"}`, "id: does not match pattern '^[a-z]+$'"},
		"odd names":          {`{"file_path":"a","a b/c~d":{"é":1}}`, "a b/c~d.é: expected null, but got number"},
		"forbidden":          {`{"file_path":"a","never":1}`, "never: not allowed"},
		"field 'required'":   {`{"file_path":"a","required":1}`, "required: not allowed"},
		"alternatives":       {`{"file_path":"a","either":1}`, "either: expected array, but got number; either: expected string, but got number"},
		"several":            {`{"mode":"slow","limit":"1"}`, `file_path: required; limit: expected integer, but got string; mode: value must be one of "fast", "safe"`},
		"not an object":      {`[]`, "the input: expected object, but got array"},
		"not JSON":           {`{`, "the input is not JSON: unexpected EOF"},
		"exponent":           {`{"file_path":"a","limit":1e999999999}`, "the input holds a number of more than 400 digits"},
		"many digits":        {`{"file_path":"a","limit":` + strings.Repeat("9", 1<<20) + `}`, "the input holds a number of more than 400 digits"},
	}
	s := compile(t, editSchema)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 { // the library reports in the order of a Go map
				err := s.Validate(json.RawMessage(tt.input))
				if err == nil || err.Error() != tt.want {
					t.Fatalf("got:  %v\nwant: %s", err, tt.want)
				}
				if code := abi.CodeOf(err); code != abi.CodeInvalidInput {
					t.Fatalf("the code is %s", code)
				}
			}
		})
	}
}

// A bound is written as people write it, however large.
func TestLargeBounds(t *testing.T) {
	t.Parallel()
	for _, bound := range []string{"100", "3600000", "1000000", "123456789", "4294967296"} {
		s := compile(t, `{"type":"object","properties":{"ms":{"type":"integer","maximum":`+bound+`}}}`)
		want := "ms: must be <= " + bound + " but found 99999999999"
		if err := s.Validate(json.RawMessage(`{"ms":99999999999}`)); err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	}
}

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	s := compile(t, editSchema)
	for _, input := range []string{
		`{"file_path":"a"}`,
		`{"edits":[],"file_path":"a","id":"abc","limit":1e2,"mode":"safe"}`,
		`{"either":["x"],"file_path":"` + strings.Repeat("x", 1<<20) + `","limit":100.0}`,
	} {
		if err := s.Validate(json.RawMessage(input)); err != nil {
			t.Errorf("%.80s: %v", input, err)
		}
	}
}

func TestValidateUnderstandsUnevaluatedProperties(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","properties":{"a":{},"b":{"unevaluatedProperties":false}},"unevaluatedProperties":false}`)
	for input, want := range map[string]string{
		`{"z":1}`:       "z: unknown field (there are a, b)",
		`{"b":{"z":1}}`: "b.z: unknown field",
	} {
		if err := s.Validate(json.RawMessage(input)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", input, err, want)
		}
	}
}

// Messages go to the model: however much is wrong, they stay short.
func TestValidateMessagesAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 10_000)
	words := make([]string, 5000)
	for i := range words {
		words[i] = fmt.Sprintf("%q", fmt.Sprintf("word%d", i))
	}
	tests := map[string]struct{ schema, input string }{
		"unknown fields": {`{"type":"object","additionalProperties":false}`, keys("k", 5000)},
		"long fields":    {`{"type":"object","additionalProperties":false}`, `{"` + long + `":1}`},
		"elements":       {`{"items":{"type":"string"}}`, "[" + strings.Repeat("1,", 5000) + "1]"},
		"a large enum":   {`{"properties":{"a":{"enum":[` + strings.Join(words, ",") + `]}}}`, `{"a":1}`},
		"a long value":   {`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"date"}}}`, `{"a":"` + long + `"}`},
		"many required":  {`{"type":"object","required":[` + strings.Join(words, ",") + `]}`, `{}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := compile(t, tt.schema).Validate(json.RawMessage(tt.input))
			wantProblem(t, err, abi.CodeInvalidInput)
			if n := len(err.Error()); n > 10*600 {
				t.Errorf("the message has %d bytes", n)
			}
		})
	}
}

// keys is a JSON object of n members.
func keys(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%s%d":1`, prefix, i)
	}
	return "{" + b.String()[1:] + "}"
}

func TestCompileSchemaRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ schema, want string }{
		"nothing":           {``, "not strict JSON"},
		"not JSON":          {`{"type":`, "not strict JSON"},
		"two documents":     {`{}{}`, "not strict JSON"},
		"duplicate keys":    {`{"type":"object","type":"object"}`, `duplicate key "type"`},
		"nested too deep":   {strings.Repeat(`{"not":`, 300) + "{}" + strings.Repeat("}", 300), "nested deeper than 256"},
		"over the size":     {`{"description":"` + strings.Repeat("x", 256<<10) + `"}`, "over the limit of 262144"},
		"true":              {`true`, "not a JSON object"},
		"an array":          {`[]`, "not a JSON object"},
		"null":              {`null`, "not a JSON object"},
		"type that is none": {`{"type":"text"}`, "not valid JSON Schema at type"},
		"misplaced type":    {`{"properties":{"a":{"type":7}}}`, "not valid JSON Schema at properties.a.type"},
		"broken pattern":    {`{"properties":{"a":{"pattern":"("}}}`, "not valid JSON Schema at properties.a.pattern"},
		"lookahead":         {`{"properties":{"a":{"pattern":"(?=x)"}}}`, "not valid JSON Schema at properties.a.pattern"},
		"unknown dialect":   {`{"$schema":"https://example.org/schema"}`, `the reference "https://example.org/schema" points outside the schema`},
		"http":              {`{"properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`, `"http://127.0.0.1:1/x" points outside the schema`},
		"file":              {`{"$ref":"file:///etc/passwd"}`, `"file:///etc/passwd" points outside the schema`},
		"relative":          {`{"$ref":"other.json"}`, `"tool:///other.json" points outside the schema`},
		"another tool":      {`{"$ref":"tool:///Read"}`, `"tool:///Read" points outside the schema`},
		"by way of $id":     {`{"$id":"file:///etc/","properties":{"a":{"$ref":"passwd"}}}`, `"file:///etc/passwd" points outside the schema`},
		"dynamic":           {`{"properties":{"a":{"$dynamicRef":"http://127.0.0.1:1/x"}}}`, "points outside the schema"},
		"nowhere":           {`{"$ref":"#/$defs/a"}`, "not found"},
		"itself":            {`{"$ref":"#"}`, "cannot be compiled"},
		"in a circle":       {`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "cannot be compiled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schemas.Compile("T", tt.schema)
			wantProblem(t, err, "", tt.want)
		})
	}
}

func TestValidateFollowsReferencesInside(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","properties":{"tree":{"$ref":"#/$defs/node"}},
		"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["name"]}}}`)
	if err := s.Validate(json.RawMessage(`{"tree":{"name":"a","kids":[{"name":"b"}]}}`)); err != nil {
		t.Error(err)
	}
	wantProblem(t, s.Validate(json.RawMessage(`{"tree":{"name":"a","kids":[{"kids":[]}]}}`)), abi.CodeInvalidInput, "tree.kids[0].name: required")
}

func TestValidateConcurrently(t *testing.T) {
	t.Parallel()
	s := compile(t, editSchema)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				err := s.Validate(fmt.Appendf(nil, `{"file_path":"a","limit":%d}`, i*50))
				if bad := i == 0 || i > 2; (err != nil) != bad {
					t.Errorf("limit %d: %v", i*50, err)
				}
			}
		})
	}
	all.Wait()
}

const bashSchema = `{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer","minimum":0,"maximum":600000},
	"description":{"type":"string"},"run_in_background":{"type":"boolean"},"dangerouslyDisableSandbox":{"type":"boolean"}},
	"required":["command"],"additionalProperties":false}`

var bashInput = json.RawMessage(`{"command":"go test ./... 2>&1 | tail -20","description":"Run the tests","run_in_background":false,"timeout":120000}`)

func BenchmarkValidate(b *testing.B) {
	edit := json.RawMessage(`{"edits":[{"new_string":"` + strings.Repeat("y", 50<<10) + `","old_string":"` + strings.Repeat("x", 50<<10) + `"}],"file_path":"a"}`)
	for name, tt := range map[string]struct {
		schema string
		input  json.RawMessage
	}{"bash": {bashSchema, bashInput}, "edit100KiB": {editSchema, edit}} {
		b.Run(name, func(b *testing.B) {
			s := compile(b, tt.schema)
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Validate(tt.input); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkValidateByTheLibrary is what Validate costs without our bounds and
// messages: the same decoding, the same library.
func BenchmarkValidateByTheLibrary(b *testing.B) {
	s := jsonschema.MustCompileString("tool:///Bash", bashSchema)
	b.ReportAllocs()
	for b.Loop() {
		decoder := json.NewDecoder(bytes.NewReader(bashInput))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err != nil {
			b.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileSchema(b *testing.B) {
	for b.Loop() {
		compile(b, bashSchema)
	}
}

// TestLongOutputs that do not plainly fit are not read.
func TestLongOutputs(t *testing.T) {
	t.Parallel()
	list := func(last string) json.RawMessage {
		return json.RawMessage("[" + strings.Repeat(`"x",`, 3<<20) + last + "]")
	}
	s, err := schemas.CompileOutput("T", `{"items":{"type":"string"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AcceptOutput(list(`"x"`)); err != nil {
		t.Error(err)
	}
	_, err = s.AcceptOutput(list(`1`))
	wantProblem(t, err, abi.CodeLimit, "the output has 12582915 bytes")
	_, err = s.AcceptOutput(json.RawMessage(`[1]`))
	wantProblem(t, err, abi.CodeInvalidInput, "[0]: expected string")
}
