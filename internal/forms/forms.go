// Package forms reads the schemas of forms that people fill in, and holds answers to them.
// They are those of the elicitation of MCP: a JSON Schema of the type object, whose properties
// are strings, numbers, booleans, choices of a string, and lists of such choices.
package forms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// The bounds of a form: what a person may be expected to look through.
const (
	MaxSchema  = 64 << 10 // bytes
	MaxFields  = 50
	MaxOptions = 500 // of one field
	// MaxAnswer bounds an answer, in bytes.
	MaxAnswer = 1 << 20
)

// Form is the fields that a person fills in, in the order in which the schema has them.
type Form struct {
	Fields []Field
}

// Parse reads a schema. What it says beyond what a form may have is refused, and so is a
// default that does not fit its field. Errors are of abi.CodeInvalidInput and name the field.
func Parse(schema json.RawMessage) (*Form, error) {
	if len(schema) > MaxSchema {
		return nil, fault("the schema of the form has %d bytes; at most %d", len(schema), MaxSchema)
	}
	root, err := object(schema)
	if err != nil {
		return nil, fault("the schema of the form: %w", err)
	}
	f, err := parse(root, schema)
	if err != nil {
		return nil, fault("the schema of the form: %w", err)
	}
	return f, nil
}

func parse(root keys, schema json.RawMessage) (*Form, error) {
	if err := root.only("$schema", "type", "title", "description", "properties", "required", "additionalProperties"); err != nil {
		return nil, err
	}
	var kind string
	var required []string
	if err := root.read("type", &kind, "required", &required); err != nil {
		return nil, err
	}
	if kind != "object" {
		return nil, fmt.Errorf(`its type must be "object", not %.40q`, kind)
	}
	if raw, ok := root["additionalProperties"]; ok && string(raw) != "false" {
		return nil, errors.New("additionalProperties can only be false: people fill in the fields that there are")
	}
	properties, err := object(root["properties"])
	if err != nil {
		return nil, fmt.Errorf("properties: %w", err)
	}
	if len(properties) > MaxFields {
		return nil, fmt.Errorf("it has %d properties; at most %d", len(properties), MaxFields)
	}
	f := &Form{}
	for _, name := range inOrder(schema) {
		field, err := parseField(name, properties[name])
		if err != nil {
			return nil, fmt.Errorf("property %.80q: %w", name, err)
		}
		field.Required = slices.Contains(required, name)
		f.Fields = append(f.Fields, field)
	}
	for _, name := range required {
		if _, ok := properties[name]; !ok {
			return nil, fmt.Errorf("required names %.80q, which is none of its properties", name)
		}
	}
	return f, nil
}

// Plain reports whether all that people are shown of the form shows as it is: nothing of it can
// pose as words of whoever shows it.
func (f *Form) Plain() bool {
	return !slices.ContainsFunc(f.Fields, func(field Field) bool { return !field.plain() })
}

// Accept holds an answer to the form, and returns it as canonical JSON with the defaults of
// the fields that it leaves out. Errors are of abi.CodeInvalidInput and name the field.
func (f *Form) Accept(answer json.RawMessage) (json.RawMessage, error) {
	if len(answer) > MaxAnswer {
		return nil, fault("the answer has %d bytes; at most %d", len(answer), MaxAnswer)
	}
	if len(answer) == 0 {
		answer = json.RawMessage("{}")
	}
	given, err := object(answer)
	if err != nil {
		return nil, fault("the answer: %w", err)
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		value, ok := given[field.Name]
		switch {
		case ok:
			if err := field.Check(value); err != nil {
				return nil, fault("the answer for %.80q: %w", field.Name, err)
			}
		case field.Default != nil:
			given[field.Name] = field.Default
		case field.Required:
			return nil, fault("the answer lacks %.80q, which is required", field.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(f.Fields, func(field Field) bool { return field.Name == name }) {
			return nil, fault("the answer has %.80q, which is no field of the form; there are %s", name, f.names())
		}
	}
	text, err := json.Marshal(given)
	if err != nil {
		return nil, fault("the answer: %w", err)
	}
	return abi.Canonical(text)
}

func (f *Form) names() string {
	names := make([]string, len(f.Fields))
	for i := range f.Fields {
		names[i] = f.Fields[i].Name
	}
	return strings.Join(names, ", ")
}

func fault(format string, args ...any) error {
	return abi.Errorf(abi.CodeInvalidInput, format, args...)
}

// keys are those of a JSON object, exactly as they are written.
type keys map[string]json.RawMessage

// object reads a JSON object, by the rules of [abi.Canonical].
func object(raw json.RawMessage) (keys, error) {
	var k keys
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, errors.New("it must be a JSON object")
	}
	if err := abi.Unmarshal(raw, &k); err != nil {
		return nil, err
	}
	return k, nil
}

// only refuses every key but those known.
func (k keys) only(known ...string) error {
	for _, key := range slices.Sorted(maps.Keys(k)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("it has the key %.40q, which a form cannot have here; there may be %s", key, strings.Join(known, ", "))
		}
	}
	return nil
}

// read decodes the values of keys into pointers, in pairs. Keys that are not there leave
// theirs as they are.
func (k keys) read(pairs ...any) error {
	for i := 0; i < len(pairs); i += 2 {
		key := pairs[i].(string) //nolint:forcetypeassert,errcheck // by the caller
		raw, ok := k[key]
		if !ok {
			continue
		}
		if err := json.Unmarshal(raw, pairs[i+1]); err != nil || string(raw) == "null" {
			return fmt.Errorf("%s cannot be %.40s", key, raw)
		}
	}
	return nil
}

// inOrder lists the names of the properties of a schema as they stand there. It is a valid one.
func inOrder(schema json.RawMessage) []string {
	var root struct {
		Properties ordered `json:"properties"`
	}
	_ = json.Unmarshal(schema, &root)
	return root.Properties
}

// ordered are the keys of an object, in their order.
type ordered []string

// UnmarshalJSON keeps the keys.
func (o *ordered) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		*o = append(*o, name)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}
