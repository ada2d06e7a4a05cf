package schemas_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// TestAccept has numbers written as integers where the schema wants such, nulls left out
// where an optional property may not be null, and everything else as it is.
func TestAccept(t *testing.T) {
	t.Parallel()
	const n, x = `{"type":"integer"}`, `{"type":"number"}`
	one := func(schema string) string { return `{"type":"object","properties":{"a":` + schema + `,"b":{}}}` }
	long := "1" + strings.Repeat("0", 390)
	for name, test := range map[string]struct{ schema, input, want string }{
		"a fraction of nothing":   {one(n), `{"a":1.0}`, `{"a":1}`},
		"an exponent":             {one(n), `{"a":1e3}`, `{"a":1000}`},
		"both":                    {one(n), `{"a":-1.250E+2}`, `{"a":-125}`},
		"a negative exponent":     {one(n), `{"a":1200e-2}`, `{"a":12}`},
		"zero":                    {one(n), `{"a":-0.0}`, `{"a":0}`},
		"exact":                   {one(n), `{"a":123456789012345678901234567890.0}`, `{"a":123456789012345678901234567890}`},
		"as long as may be":       {one(n), `{"a":1e390}`, `{"a":` + long + `}`},
		"a bound counts it":       {one(`{"type":"integer","minimum":2}`), `{"a":1.0}`, "must be >= 2"},
		"no integer":              {one(n), `{"a":1.5}`, "expected integer"},
		"longer than may be":      {one(n), `{"a":1e401}`, "more than 400 digits"},
		"long for no reason":      {one(n), `{"a":1.` + strings.Repeat("0", 500) + `}`, "more than 400 digits"},
		"the smallest power":      {one(n), `{"a":1.5e-9223372036854775808}`, "more than 400 digits"},
		"the largest power":       {one(n), `{"a":1.5e9223372036854775807}`, "more than 400 digits"},
		"a number":                {one(x), `{"a":1.0}`, `{"a":1.0}`},
		"both types":              {one(`{"type":["integer","number"]}`), `{"a":1.0}`, `{"a":1.0}`},
		"no type":                 {one(`{}`), `{"a":1.0}`, `{"a":1.0}`},
		"a text":                  {one(n), `{"a":1.0,"b":"2.0"}`, `{"a":1,"b":"2.0"}`},
		"another property":        {one(n), `{"b":{"a":1.0}}`, `{"b":{"a":1.0}}`},
		"integer or null":         {one(`{"type":["integer","null"]}`), `{"a":1.0}`, `{"a":1}`},
		"a reference":             {`{"type":"object","$defs":{"n":` + n + `},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":1.0}`, `{"a":1}`},
		"a reference to itself":   {`{"type":"object","properties":{"a":{"$ref":"#"},"n":` + n + `}}`, `{"a":{"a":{"n":1.0}}}`, `{"a":{"a":{"n":1}}}`},
		"a slash in a reference":  {`{"type":"object","$defs":{"n/m":` + n + `},"properties":{"a":{"$ref":"#/$defs/n~1m"}}}`, `{"a":1.0}`, `{"a":1}`},
		"all of":                  {one(`{"allOf":[{"minimum":0},` + n + `]}`), `{"a":1.0}`, `{"a":1}`},
		"or a text":               {one(`{"anyOf":[{"type":"string"},` + n + `]}`), `{"a":1.0}`, `{"a":1}`},
		"integers in any case":    {one(`{"oneOf":[{"type":"integer","maximum":3},{"type":"integer","minimum":9}]}`), `{"a":1.0}`, `{"a":1}`},
		"or a number":             {one(`{"anyOf":[` + x + `,` + n + `]}`), `{"a":1.0}`, `{"a":1.0}`},
		"or anything":             {one(`{"anyOf":[{},` + n + `]}`), `{"a":1.0}`, `{"a":1.0}`},
		"the one object there is": {one(`{"anyOf":[{"type":"null"},{"properties":{"n":` + n + `},"type":"object"}]}`), `{"a":{"n":2.0}}`, `{"a":{"n":2}}`},
		"one of two objects":      {one(`{"anyOf":[{"type":"object","properties":{"n":` + n + `}},{"type":"object"}]}`), `{"a":{"n":2.0}}`, `{"a":{"n":2.0}}`},
		"items":                   {one(`{"type":"array","prefixItems":[` + x + `],"items":` + n + `}`), `{"a":[1.0,2.0]}`, `{"a":[1.0,2]}`},
		"further properties":      {`{"type":"object","additionalProperties":` + n + `}`, `{"x":1.0}`, `{"x":1}`},
		"or those by pattern":     {`{"type":"object","patternProperties":{"x":` + x + `},"additionalProperties":` + n + `}`, `{"x":1.0}`, `{"x":1.0}`},

		"null":                  {one(n), `{"a":null}`, `{}`},
		"null deep inside":      {one(`{"type":"array","items":` + one(n) + `}`), `{"a":[{"a":null,"b":null}]}`, `{"a":[{"b":null}]}`},
		"null is allowed":       {one(`{"type":["integer","null"]}`), `{"a":null}`, `{"a":null}`},
		"null is a value":       {one(`{"enum":[1,null]}`), `{"a":null}`, `{"a":null}`},
		"null is no value":      {one(`{"enum":[1,2]}`), `{"a":null}`, `{}`},
		"null is not the value": {one(`{"const":1}`), `{"a":null}`, `{}`},
		"null or":               {one(`{"anyOf":[` + n + `,{"type":"null"}]}`), `{"a":null}`, `{"a":null}`},
		"null or not":           {one(`{"anyOf":[` + n + `,{"type":"string"}]}`), `{"a":null}`, `{}`},
		"null by a reference":   {`{"type":"object","$defs":{"n":` + n + `},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":null}`, `{}`},
		"null, where none fits": {one("false"), `{"a":null}`, `{}`},
		"null is required":      {`{"type":"object","properties":{"a":` + n + `},"required":["a"]}`, `{"a":null}`, "expected integer, but got null"},
		"null is unknown":       {`{"type":"object","properties":{},"additionalProperties":false}`, `{"a":null}`, "a: unknown field"},
		"null in a list":        {one(`{"type":"array","items":` + n + `}`), `{"a":[null]}`, "expected integer, but got null"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := compile(t, test.schema).Accept(json.RawMessage(test.input), true)
			if test.want[0] != '{' {
				wantProblem(t, err, abi.CodeInvalidInput, test.want)
			} else if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
	if _, err := compile(t, one(n)).Accept(json.RawMessage(`{"a":null}`), false); abi.CodeOf(err) != abi.CodeInvalidInput {
		t.Errorf("a null was left out where nobody asked for that: %v", err)
	}
}

// TestAcceptIsBounded gives up on schemas that multiply, and leaves the input alone, also
// where a part of it was changed before. Unbounded it would take hours.
func TestAcceptIsBounded(t *testing.T) {
	t.Parallel()
	const properties, items = `{"properties":{"a":{"type":"integer"}}}`, `{"items":{"type":"integer"}}`
	for name, test := range map[string]struct{ schema, input string }{
		"all of":   {doubling("allOf", properties, 30), `{"a":1.0}`},
		"any of":   {doubling("anyOf", properties, 30), `{"a":1.0}`},
		"half way": {doubling("allOf", items, 13), `[1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0]`},
	} {
		if got, _ := hurried(compile(t, test.schema)).Accept(json.RawMessage(test.input), true); string(got) != test.input {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// FuzzAccept holds numbers to big integers: what is written anew is the same number.
func FuzzAccept(f *testing.F) {
	for _, number := range []string{"1.0", "1e3", "-0.0", "12.50e1", "1e-1", "9007199254740993.0"} {
		f.Add(number)
	}
	f.Fuzz(func(t *testing.T, number string) {
		input, err := abi.Canonical([]byte("[" + number + "]"))
		if err != nil || len(number) > 100 || strings.ContainsAny(number, `[]{}",`) {
			return
		}
		if at := strings.IndexAny(number, "eE"); at >= 0 && len(number)-at > 6 {
			return // what checks it would take too long
		}
		want, ok := new(big.Rat).SetString(string(input[1 : len(input)-1]))
		if !ok {
			return
		}
		got, err := compile(t, `{"type":"array","items":{"type":"integer"}}`).Accept(input, true)
		if err != nil && strings.Contains(err.Error(), "400 digits") {
			return
		}
		if (err == nil) != want.IsInt() {
			t.Fatalf("%s: %v", number, err)
		}
		if whole, ok := new(big.Int).SetString(string(got[1:len(got)-1]), 10); err == nil && (!ok || whole.Cmp(want.Num()) != 0) {
			t.Errorf("%s: got %s", number, got)
		}
	})
}
