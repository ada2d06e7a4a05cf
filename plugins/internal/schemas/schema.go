// Package schemas compiles the JSON Schemas of tools and holds inputs to them. Schemas come
// from strangers: what compiling one and checking an input by it may cost is bounded.
package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
)

// MaxSchema is the largest JSON Schema in bytes.
const MaxSchema = 256 << 10

// Schema is a compiled JSON Schema of one tool. It is safe for concurrent use.
type Schema struct {
	root     map[string]any
	compiled *jsonschema.Schema
	shape    schemaShape
	budget   *budget
	plain    *plainSchema // nil where the schema is not plain
	// about is what a whole value is called in messages, and most how many faults of one are
	// told.
	about string
	most  int
}

// Compile compiles the schema of a tool's input, which must be a JSON
// object. References may only point into the schema itself: nothing is ever
// loaded. Compiling and every validation are bounded in the work they may take,
// whatever the schema says.
func Compile(tool, text string) (*Schema, error) { return compile(tool, text, "the input") }

// CompileOutput compiles a tool's output schema as [Compile] does. What does not fit it is
// called an output in messages.
func CompileOutput(tool, text string) (*Schema, error) { return compile(tool, text, "the output") }

// CompileForm compiles the schema of what a caller wants, which must be one of an object, as
// [Compile] does. Of an input that does not fit it, many more faults are told.
func CompileForm(tool, text string) (*Schema, error) {
	s, err := compile(tool, text, "the input")
	if err != nil {
		return nil, err
	}
	if s.root["type"] != "object" {
		return nil, errors.New(`the schema is not one of an object; write "type": "object" at its root`)
	}
	s.most = maxFormProblems
	return s, nil
}

func compile(tool, text, about string) (s *Schema, err error) {
	if len(text) > MaxSchema {
		return nil, fmt.Errorf("the schema has %d bytes, over the limit of %d", len(text), MaxSchema)
	}
	var doc any
	if err := abi.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("the schema is not strict JSON: %s", clip(err.Error()))
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("the schema is not a JSON object")
	}
	shape, err := measure(root)
	if err != nil {
		return nil, err
	}
	// A schema is a stranger's input to a library that panics on some.
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("the schema cannot be compiled: %s", clip(fmt.Sprint(r)))
		}
	}()
	b := &budget{time: maxCheck}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = refuseURL
	c.RegisterExtension("toolquay-budget", nil, b)
	location := "tool:///" + url.PathEscape(tool)
	if err := c.AddResource(location, strings.NewReader(text)); err != nil {
		return nil, schemaFault(err)
	}
	compiled, err := c.Compile(location)
	if err != nil {
		return nil, schemaFault(err)
	}
	s = &Schema{root: root, compiled: compiled, shape: shape, budget: b, about: about, most: maxProblems}
	if shape == (schemaShape{}) { // else long inputs have limits of their own
		s.plain = plainOf(root)
	}
	return s, nil
}

// refuseURL is the schema loader: there is none.
func refuseURL(url string) (io.ReadCloser, error) {
	return nil, fmt.Errorf("the reference %s points outside the schema; only references into it (\"#/...\") are followed", visible.Name(url))
}

func schemaFault(err error) error {
	if leaf, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		for len(leaf.Causes) > 0 {
			leaf = leaf.Causes[0]
		}
		return fmt.Errorf("the schema is not valid JSON Schema at %s: %s", clip(pathOf(leaf.InstanceLocation, "its root")), clip(leaf.Message))
	}
	var s *jsonschema.SchemaError
	if errors.As(err, &s) && s.Err != nil {
		err = s.Err
	}
	return fmt.Errorf("the schema cannot be compiled: %s", clip(err.Error()))
}

// Validate checks a value, which must be canonical JSON. What is wrong with it is
// an *abi.Error of [abi.CodeInvalidInput] that says, field by field, what to
// change; a schema that takes too much work on it, one of [abi.CodeLimit].
func (s *Schema) Validate(value json.RawMessage) error {
	if s.plain.accepts(value) {
		return nil
	}
	return s.examine(value)
}

// maxOutput is the largest output in bytes that is read for what is wrong with it: in memory
// it takes ten times as much.
const maxOutput = 8 << 20

// AcceptOutput checks a tool's output and returns it as [Schema.Accept] does with nulls: what
// encodes a missing value writes null in many languages. An output that is very long and does
// not plainly fit is refused unread.
func (s *Schema) AcceptOutput(value json.RawMessage) (json.RawMessage, error) {
	if s.plain.accepts(value) {
		return value, nil
	}
	if len(value) <= maxOutput {
		return s.Accept(value, true)
	}
	return nil, abi.Errorf(abi.CodeLimit, "%s has %d bytes; more than %d cannot be checked against this schema", s.about, len(value), maxOutput)
}

// examine asks the library.
func (s *Schema) examine(value json.RawMessage) error {
	v, err := abi.Value(value)
	if err != nil {
		return abi.Errorf(abi.CodeInvalidInput, "%s is not JSON: %w", s.about, err)
	}
	err = s.check(v)
	if abi.CodeOf(err) == abi.CodeLimit {
		if list := overlong(s.compiled, v, ""); list != "" {
			return abi.Errorf(abi.CodeInvalidInput, "%s", list)
		}
	}
	return err
}

// check asks the library within bounds.
func (s *Schema) check(v any) error {
	if err := s.shape.admits(v); err != nil {
		return err
	}
	err := s.budget.within(func() error { return s.compiled.Validate(v) })
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return abi.Errorf(abi.CodeInvalidInput, "%s", strings.Join(s.problems(invalid), "; "))
	}
	return abi.Errorf(abi.CodeLimit, "%s cannot be checked against the tool's schema: %w", s.about, err)
}
