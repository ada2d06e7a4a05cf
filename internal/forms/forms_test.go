package forms_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/forms"
)

// every has a field of each type.
const every = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","title":"T","required":["name","size"],"properties":{
	"name":{"type":"string","title":"Your name","description":"As on the door","minLength":2,"maxLength":5},
	"size":{"type":"string","enum":["s","m"],"enumNames":["Small","Medium"],"default":"m"},
	"colour":{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}]},
	"age":{"type":"integer","minimum":0,"maximum":150,"default":30},
	"part":{"type":"number"},
	"sure":{"type":"boolean","default":false},
	"mail":{"type":"string","format":"email"},
	"page":{"type":"string","format":"uri"},
	"day":{"type":"string","format":"date"},
	"at":{"type":"string","format":"date-time"},
	"tags":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b","c"]},"default":["a"]},
	"kinds":{"type":"array","items":{"anyOf":[{"const":"x","title":"Ex"},{"const":"y","title":"Why"}]}}}}`

func parse(t *testing.T, schema string) *forms.Form {
	t.Helper()
	f, err := forms.Parse(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParse(t *testing.T) {
	t.Parallel()
	f := parse(t, every)
	var names []string
	for i := range f.Fields {
		names = append(names, f.Fields[i].Name)
	}
	if got := strings.Join(names, " "); got != "name size colour age part sure mail page day at tags kinds" {
		t.Errorf("the fields are %s", got)
	}
	size, zero, most := f.Fields[1], 0.0, 150.0
	want := forms.Field{
		Name: "size", Type: forms.Choice, Required: true, Default: json.RawMessage(`"m"`), MinLength: -1, MaxLength: -1,
		Options: []forms.Option{{Value: "s", Title: "Small"}, {Value: "m", Title: "Medium"}}, MinItems: -1, MaxItems: -1,
	}
	if !reflect.DeepEqual(size, want) {
		t.Errorf("size is %+v", size)
	}
	if name := f.Fields[0]; name.Label() != "Your name" || size.Label() != "size" || name.Description != "As on the door" || name.MinLength != 2 || name.MaxLength != 5 {
		t.Errorf("name is %+v", name)
	}
	if age := f.Fields[3]; !reflect.DeepEqual(age.Minimum, &zero) || !reflect.DeepEqual(age.Maximum, &most) {
		t.Errorf("age is %+v", age)
	}
	if len(parse(t, `{"type":"object","properties":{},"additionalProperties":false}`).Fields) != 0 {
		t.Error("an empty form has fields")
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	properties := func(of string) string { return `{"type":"object","properties":{"f":` + of + `}}` }
	many := make([]string, forms.MaxFields+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"f%d":{"type":"boolean"}`, i)
	}
	for want, schema := range map[string]string{
		"must be a JSON object":                   `[]`,
		`its type must be "object"`:               `{"properties":{}}`,
		"properties: it must be a JSON object":    `{"type":"object"}`,
		`the key "allOf"`:                         `{"type":"object","properties":{},"allOf":[]}`,
		"additionalProperties can only be false":  `{"type":"object","properties":{},"additionalProperties":true}`,
		`required names "g"`:                      `{"type":"object","properties":{},"required":["g"]}`,
		"required cannot be 7":                    `{"type":"object","properties":{},"required":7}`,
		"it has 51 properties":                    `{"type":"object","properties":{` + strings.Join(many, ",") + `}}`,
		"bytes; at most":                          `{"type":"object","properties":{},"title":"` + strings.Repeat("x", forms.MaxSchema) + `"}`,
		`its type cannot be "object"`:             properties(`{"type":"object","properties":{}}`),
		`its type cannot be ""`:                   properties(`{}`),
		"type cannot be [":                        properties(`{"type":["string","null"]}`),
		`the key "pattern"`:                       properties(`{"type":"string","pattern":"(a+)+"}`),
		`the key "$ref"`:                          properties(`{"type":"string","$ref":"#/x"}`),
		`the key "Format"`:                        properties(`{"type":"string","Format":"uri"}`),
		`its format cannot be "password"`:         properties(`{"type":"string","format":"password"}`),
		"minLength and maxLength leave nothing":   properties(`{"type":"string","minLength":3,"maxLength":2}`),
		"minLength cannot be 1.5":                 properties(`{"type":"string","minLength":1.5}`),
		"title cannot be null":                    properties(`{"type":"string","title":null}`),
		"minimum and maximum leave nothing":       properties(`{"type":"integer","minimum":3,"maximum":2}`),
		"its default does not fit it: it must be": properties(`{"type":"integer","default":1.5}`),
		"both enum and oneOf":                     properties(`{"type":"string","enum":["a"],"oneOf":[{"const":"a","title":"A"}]}`),
		"enumNames has 1 names for the 2 values":  properties(`{"type":"string","enum":["a","b"],"enumNames":["A"]}`),
		"it has 0 values to choose from":          properties(`{"type":"string","enum":[]}`),
		`the value "a" is there twice`:            properties(`{"type":"string","enum":["a","a"]}`),
		"each of oneOf must have a const":         properties(`{"type":"string","oneOf":[{"title":"A"}]}`),
		`it has the key "type"`:                   properties(`{"type":"string","oneOf":[{"const":"a","title":"A","type":"string"}]}`),
		"items: it must be a JSON object":         properties(`{"type":"array"}`),
		`items: the type must be "string"`:        properties(`{"type":"array","items":{"type":"integer"}}`),
		"minItems is 3, of 1 values":              properties(`{"type":"array","minItems":3,"items":{"type":"string","enum":["a"]}}`),
		"minItems and maxItems leave nothing":     properties(`{"type":"array","minItems":1,"maxItems":0,"items":{"type":"string","enum":["a"]}}`),
		"duplicate":                               properties(`{"type":"string","type":"boolean"}`),
	} {
		_, err := forms.Parse(json.RawMessage(schema))
		if abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200s: %v; want %q", schema, err, want)
		}
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	f := parse(t, every)
	for answer, want := range map[string]string{
		`{"name":"Ann"}`:             `{"age":30,"name":"Ann","size":"m","sure":false,"tags":["a"]}`,
		`{"name":"Ünsæ","size":"s"}`: `{"age":30,"name":"Ünsæ","size":"s","sure":false,"tags":["a"]}`,
		`{"name":"Ann","age":1e1}`:   `{"age":1e1,"name":"Ann","size":"m","sure":false,"tags":["a"]}`,
		`{"name":"Ann","part":-0.5}`: `{"age":30,"name":"Ann","part":-0.5,"size":"m","sure":false,"tags":["a"]}`,
		`{"name":"Ann","kinds":["y","x"],"tags":["c"],"colour":"#0f0","sure":true,"mail":"a@b.ch","page":"mailto:x","day":"2026-02-28","at":"2026-02-28T01:02:03.5+01:00"}`: `{"age":30,"at":"2026-02-28T01:02:03.5+01:00","colour":"#0f0","day":"2026-02-28","kinds":["y","x"],"mail":"a@b.ch","name":"Ann","page":"mailto:x","size":"m","sure":true,"tags":["c"]}`,
	} {
		got, err := f.Accept(json.RawMessage(answer))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", answer, got, err)
		}
	}
	for answer, want := range map[string]string{
		``:                                    `lacks "name"`,
		`{"size":"s"}`:                        `lacks "name"`,
		`[]`:                                  "must be a JSON object",
		`{"name":"Ann","name":"Bob"}`:         "duplicate",
		`{"name":"A"}`:                        "at least 2 characters, not 1",
		`{"name":"Annabel"}`:                  "at most 5 characters, not 7",
		`{"name":null}`:                       "it must be a string",
		`{"name":7}`:                          "it must be a string",
		`{"name":"Ann","size":"l"}`:           `"l" is not among the values: s, m`,
		`{"name":"Ann","colour":"Red"}`:       "not among the values: #f00, #0f0",
		`{"name":"Ann","age":1.5}`:            "a whole number",
		`{"name":"Ann","age":-1}`:             "at least 0",
		`{"name":"Ann","age":151}`:            "at most 150",
		`{"name":"Ann","age":"3"}`:            "must be a number",
		`{"name":"Ann","age":1e999}`:          "must be a number",
		`{"name":"Ann","sure":"yes"}`:         "true or false",
		`{"name":"Ann","mail":"A <a@b>"}`:     "an email address",
		`{"name":"Ann","page":"/x"}`:          "a whole address",
		`{"name":"Ann","day":"2026-02-30"}`:   "a date, such as",
		`{"name":"Ann","at":"2026-02-28"}`:    "a time with its zone",
		`{"name":"Ann","tags":[]}`:            "at least 1 values, not 0",
		`{"name":"Ann","tags":["a","b","c"]}`: "at most 2 values, not 3",
		`{"name":"Ann","tags":["a","a"]}`:     `"a" is there twice`,
		`{"name":"Ann","tags":"a"}`:           "a list of strings",
		`{"name":"Ann","Name":"Bob"}`:         `"Name", which is no field`,
	} {
		got, err := f.Accept(json.RawMessage(answer))
		if abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %q", answer, got, err, want)
		}
	}
	if _, err := f.Accept(json.RawMessage(`{"name":"` + strings.Repeat("x", forms.MaxAnswer) + `"}`)); err == nil {
		t.Error("a huge answer is taken")
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	f := parse(t, every)
	for _, test := range [][3]string{
		{"name", "Ann", `"Ann"`}, {"name", "A", ""},
		{"size", "2", `"m"`}, {"size", "s", `"s"`}, {"size", "small", `"s"`}, {"size", "3", ""},
		{"age", "7", "7"}, {"age", "seven", ""}, {"age", "[7]", ""},
		{"sure", "Yes", "true"}, {"sure", "n", "false"}, {"sure", "perhaps", ""},
		{"tags", "a, 3", `["a","c"]`}, {"tags", ",", ""},
		{"kinds", "why", `["y"]`}, {"kinds", "", `[]`},
	} {
		for i := range f.Fields {
			if f.Fields[i].Name != test[0] {
				continue
			}
			got, err := f.Fields[i].Typed(test[1])
			if (err != nil) != (test[2] == "") || err == nil && string(got) != test[2] {
				t.Errorf("%s %q: %s, %v", test[0], test[1], got, err)
			}
		}
	}
}

// FuzzParse has no schema panic, and every answer that is accepted be accepted again, as it is.
func FuzzParse(f *testing.F) {
	f.Add(every, `{"name":"Ann"}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"number"}}}`, `{"a":1e5}`)
	f.Fuzz(func(t *testing.T, schema, answer string) {
		form, err := forms.Parse(json.RawMessage(schema))
		if err != nil {
			return
		}
		once, err := form.Accept(json.RawMessage(answer))
		if err != nil {
			return
		}
		twice, err := form.Accept(once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%s, then %s, %v", once, twice, err)
		}
	})
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for of, plain := range map[string]bool{
		`{"type":"string","title":"Name","description":"two\nlines"}`:            true,
		`{"type":"string","title":"Name\u202egnp"}`:                              false,
		`{"type":"string","oneOf":[{"const":"a","title":"A\u0007"}]}`:            false,
		`{"type":"string","oneOf":[{"const":"a\u200b","title":"A"}]}`:            false,
		`{"type":"string","description":"\u001b[2J","enum":["a"],"default":"a"}`: false,
	} {
		f, err := forms.Parse(json.RawMessage(`{"type":"object","properties":{"f":` + of + `}}`))
		if err != nil || f.Plain() != plain {
			t.Errorf("%s: %v; want %t", of, err, plain)
		}
	}
}
