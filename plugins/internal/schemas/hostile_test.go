package schemas_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/internal/schemas"
)

// doubling asks for 2^n visits of its last node.
func doubling(keyword, leaf string, n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, keyword, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":%s}}`, n, leaf)
	return b.String()
}

// doublingDown doubles by properties: every level of the input twice the visits
// of the one above.
const doublingDown = `{"$ref":"#/$defs/n","$defs":{"n":{
	"allOf":[{"properties":{"a":{"$ref":"#/$defs/n"}}},{"properties":{"a":{"$ref":"#/$defs/n"}}}]}}}`

// aliases refers to one place of 1000 schemas by many names, each of which the
// library takes for another place.
func aliases(dialect string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"$schema":%q,"x":{"abcdefghijkl":{"$ref":"#/y","allOf":[%s{}]}},"y":{},"allOf":[`, dialect, strings.Repeat("{},", 1000))
	for i := range n {
		b.WriteString(`{"$ref":"#/x/`)
		for k, c := range "abcdefghijkl" {
			if i>>k&1 == 1 {
				fmt.Fprintf(&b, "%%%x", c)
			} else {
				b.WriteRune(c)
			}
		}
		b.WriteString(`"},`)
	}
	return b.String() + "{}]}"
}

func numbers(n int) string { return "[" + strings.Repeat("7,", n-1) + "8]" }

// Each ends after a second and a half of work, as itself or as an error that names
// the limit; the race detector has its share.
func TestHostileSchemas(t *testing.T) {
	const limit, multiplies = 20 * time.Second, "checking takes more than"
	const draft7, draft2020 = "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"
	tests := map[string]struct{ schema, input, want string }{
		"doubling allOf":              {doubling("allOf", `{}`, 30), `{}`, multiplies},
		"doubling allOf that fails":   {doubling("allOf", `{"type":"string"}`, 30), `{}`, multiplies},
		"doubling oneOf that fails":   {doubling("oneOf", `false`, 30), `{}`, multiplies},
		"doubling anyOf that fails":   {doubling("anyOf", `{"required":["a"]}`, 30), `{}`, multiplies},
		"doubling through properties": {doublingDown, strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), multiplies},
		"many nodes":                  {`{"allOf":[` + strings.Repeat("{},", 50_000) + `{}]}`, `{}`, "50002 objects and booleans, over the limit of 4000"},
		"many booleans":               {`{"allOf":[` + strings.Repeat("true,", 50_000) + `{}]}`, `{}`, "over the limit of 4000"},
		"as many nodes as may be":     {`{"allOf":[` + strings.Repeat("{},", 3990) + `{}]}`, `{}`, ""},
		"aliases":                     {aliases(draft7, 1500), `{}`, "references in "},
		"fewer aliases, draft 7":      {aliases(draft7, 60), `{}`, ""},
		"fewer aliases, draft 2020":   {aliases(draft2020, 150), `{}`, "references multiply it"},
		"a long chain": {`{"$ref":"#/$defs/d0","$defs":{` + func() string {
			var b strings.Builder
			for i := range 400 {
				fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
			}
			return b.String()
		}() + `"d400":{}}}`, `{}`, ""},
		"a pattern that unfolds":         {`{"properties":{"a":{"pattern":"` + strings.Repeat("a{1000}", 300) + `"}}}`, `{}`, "patterns come to 300001 instructions, over the limit of 10000"},
		"nested repetitions":             {`{"properties":{"a":{"pattern":"((a{30}){30}){30}"}}}`, `{}`, "not valid JSON Schema at properties.a.pattern"},
		"names that unfold":              {`{"patternProperties":{"(abc){900}":{},"(abcd){1000}":{},"(abcde){1000}":{}}}`, `{}`, "patterns come to"},
		"a pattern on a long text":       {`{"properties":{"a":{"pattern":"a.{500}z"}}}`, `{"a":"` + strings.Repeat("a", 1<<20) + `"}`, "too long to be matched"},
		"just as long as may be":         {`{"properties":{"a":{"pattern":"a.{500}z"}}}`, `{"a":"` + strings.Repeat("a", 66_000) + `"}`, "a: does not match pattern"},
		"a short pattern on a long text": {`{"properties":{"a":{"pattern":"^[a-z0-9-]{1,900}$"}}}`, `{"a":"` + strings.Repeat("a", 1<<20) + `"}`, "a: does not match pattern"},
		"many names":                     {`{"patternProperties":` + strings.ReplaceAll(keys("x", 2000), ":1", ":{}") + `}`, keys("k", 50_000), "too long to be matched"},
		"many alternatives":              {`{"allOf":[` + strings.Repeat(`{"items":{"type":"string"}},`, 100) + `{}]}`, numbers(100_000), "a list of 100000 elements is too long"},
		"alternatives that fail early":   {`{"allOf":[` + strings.Repeat(`{"type":"string"},`, 3000) + `{}]}`, numbers(100_000), "a list of 100000 elements is too long"},
		"a huge enum":                    {`{"items":{"enum":` + numbers(100_000) + `}}`, numbers(100_000), multiplies},
		"a huge enum, once":              {`{"properties":{"a":{"enum":` + numbers(50_000) + `}}}`, `{"a":8}`, ""},
		"numbers with large powers":      {`{"properties":{"a":{"type":"integer"}}}`, `{"a":[` + strings.Repeat("1e999999,", 1000) + `1]}`, "a number of more than 400 digits"},
		"limits with large powers":       {`{"properties":{"a":{"minimum":1e999999}}}`, `{}`, "a number of more than 400 digits"},
		"unique items":                   {`{"type":"array","uniqueItems":true}`, func() string { b, _ := json.Marshal(count(40_000)); return string(b) }(), ""},
		"unique items, the last double":  {`{"type":"array","uniqueItems":true}`, func() string { b, _ := json.Marshal(append(count(40_000), 0)); return string(b) }(), "are equal"},
		"nested as deep as may be":       {strings.Repeat(`{"not":`, 255) + "{}" + strings.Repeat("}", 255), `{}`, "the input: not failed"},
		"an input nested deep":           {`{"$ref":"#/$defs/n","$defs":{"n":{"items":{"$ref":"#/$defs/n"}}}}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000), ""},
		"a long list of failures":        {`{"items":{"type":"string"}}`, numbers(100_000), "and more"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var err error
			work := testenv.Work(func() {
				var s *schemas.Schema
				if s, err = schemas.Compile("T", tt.schema); err != nil {
					return
				}
				if tt.want != multiplies {
					s = s.Within(time.Hour) // it comes to its own end
				} else {
					s = hurried(s)
				}
				err = s.Validate(json.RawMessage(tt.input))
			})
			if work > limit {
				t.Errorf("it took %s, over %s", work, limit)
			}
			t.Logf("%s", work.Round(time.Millisecond))
			switch {
			case tt.want != "":
				wantProblem(t, err, "", tt.want)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// hurried gives a validation a tenth of its time where tests are not to be thorough.
func hurried(s *schemas.Schema) *schemas.Schema {
	if testenv.Thorough() {
		return s
	}
	return s.Within(time.Second / 10)
}

func count(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// What a schema costs is its plugin's fault, what an input does not fit is the
// input's.
func TestValidateSaysWhoseFaultItIs(t *testing.T) {
	t.Parallel()
	err := compile(t, doubling("allOf", `{}`, 30)).Validate(json.RawMessage(`{}`))
	if abi.CodeOf(err).Blame() != abi.BlamePlugin {
		t.Errorf("%v: blame is on %s", err, abi.CodeOf(err).Blame())
	}
	// The budget is the validation's, not the schema's.
	s := compile(t, `{"items":{"enum":[7,8`+strings.Repeat(`,"x"`, 1000)+`]}}`).Within(time.Hour) // 1000 steps an element
	for range 5 {
		if err := s.Validate(json.RawMessage(numbers(300))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOverlongLists: the bound of a list is named, however much work the whole of it would be.
func TestOverlongLists(t *testing.T) {
	t.Parallel()
	const list = `{"type":"array","maxItems":4,"items":{"type":"object","required":["a"]}}`
	for _, test := range map[string]struct{ schema, input, want string }{
		"a list":          {`{"properties":{"few":` + list + `}}`, `{"few":` + numbers(100_000) + `}`, "few: maximum 4 items required, but found 100000 items"},
		"an inner one":    {`{"properties":{"all":{"items":{"properties":{"few":` + list + `}}}}}`, `{"all":[{},{"few":` + numbers(100_000) + `}]}`, "all[1].few: maximum 4 items required, but found 100000 items"},
		"of alternatives": {`{"properties":{"few":{"maxItems":4,"items":{"anyOf":[{},{},{}]}}}}`, `{"few":` + numbers(1_000_000) + `}`, "few: maximum 4 items required, but found 1000000 items"},
	} {
		wantProblem(t, compile(t, test.schema).Within(0).Validate(json.RawMessage(test.input)), abi.CodeInvalidInput, test.want)
	}
}

// TestValidationEndsInTime, however few its steps.
func TestValidationEndsInTime(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"items":{"multipleOf":1}}`)
	if err := s.Within(time.Hour).Validate(json.RawMessage(numbers(1000))); err != nil {
		t.Error(err)
	}
	wantProblem(t, s.Within(0).Validate(json.RawMessage(numbers(1000))), abi.CodeLimit, "checking takes more than", "or 0s")
}

func FuzzCompile(f *testing.F) {
	for _, schema := range []string{editSchema, bashSchema, doublingDown, doubling("oneOf", "false", 5), aliases("http://json-schema.org/draft-07/schema#", 3), `{"$id":"#","$anchor":"a"}`} {
		f.Add(schema, `{"file_path":"a"}`)
		f.Add(schema, `{"a":{"a":[1e5,null,"x"]}}`)
	}
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `0`)
	f.Fuzz(func(t *testing.T, schema, input string) {
		var err error
		work := testenv.Work(func() {
			var s *schemas.Schema
			if s, err = schemas.Compile("T", schema); err == nil {
				err = s.Validate(json.RawMessage(input))
			}
		})
		if work > 5*time.Second {
			t.Errorf("it took %s", work)
		}
		if err != nil && strings.Contains(err.Error(), "library failed") {
			t.Error(err)
		}
	})
}
