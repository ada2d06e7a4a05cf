package toolset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/modelschema"
	"github.com/toolquay/toolquay/plugins"
)

// markDeferred marks a definition as deferred, for the one API that has that.
func markDeferred(definition json.RawMessage) json.RawMessage {
	return append(slices.Clone(definition[:len(definition)-1]), `,"defer_loading":true}`...)
}

// definer writes the definitions of one list of tools.
type definer struct {
	format   Format
	examples bool
	// strict are the schemas of strict tools, by name.
	strict map[string]json.RawMessage
}

// newDefiner returns the definer of a sorted list of tools.
func newDefiner(o *Selection, format Format, tools []Tool) *definer {
	d := &definer{format: format, examples: o.Examples}
	if !o.Strict || format == FormatMCP || format == FormatGemini {
		return d
	}
	type candidate struct {
		Tool
		modelschema.Schema
	}
	var candidates []candidate
	for _, t := range tools {
		if s, err := modelschema.Strict(t.InputSchema, format.api()); t.Strict && err == nil {
			candidates = append(candidates, candidate{t, s})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Optional(), b.Optional()))
	})
	d.strict = make(map[string]json.RawMessage)
	budget := modelschema.NewBudget(format.api())
	for _, c := range candidates {
		if budget.Take(c.Schema) {
			d.strict[c.Name] = c.JSON
		}
	}
	return d
}

// define writes the definition of a tool, with more after its description.
func (d *definer) define(t *Tool, more string) (json.RawMessage, error) {
	schema, strict, rest, err := d.schema(t.Tool)
	if err != nil {
		return nil, fmt.Errorf("the input schema of %s: %w", t.Name, err)
	}
	description := t.description()
	if d.format == FormatMCP && t.Brief != nil {
		description = t.Brief()
	}
	if rest != "" {
		description += "\n\nThe input must also fit this JSON Schema: " + rest
	}
	var examples []json.RawMessage
	if d.examples {
		for _, example := range t.InputExamples {
			examples = append(examples, json.RawMessage(example))
		}
	}
	if d.format == FormatAnthropic {
		examples = fitting(examples, schema)
	} else if len(examples) > 0 {
		list := []string{description, "", "Examples of inputs:"}
		for _, example := range examples {
			list = append(list, string(example))
		}
		if all := strings.Join(list, "\n"); d.format != FormatMCP || len(all) <= abi.MaxSafeText {
			description = all
		}
	}
	description += more
	switch d.format {
	case FormatAnthropic:
		return encode(anthropicTool{Name: t.Name, Description: description, InputSchema: schema, InputExamples: examples, Strict: strict})
	case FormatOpenAI:
		return encode(openAITool{Type: "function", Function: openAIFunction{t.Name, description, schema, strict}})
	case FormatResponses:
		return encode(responsesTool{"function", t.Name, description, schema, strict})
	case FormatGemini:
		return encode(geminiTool{t.Name, description, schema})
	case FormatMCP:
		return encode(mcpToolOf(t, description, schema))
	}
	return nil, fmt.Errorf("no format %q; there are %v", d.format, Formats())
}

// fitting returns the examples that fit a schema as the API is given it: the API refuses
// a whole request for one that does not. Examples with more properties fit no strict
// schema.
func fitting(examples []json.RawMessage, schema json.RawMessage) []json.RawMessage {
	if len(examples) == 0 {
		return nil
	}
	compiled, err := plugins.CompileSchema("", string(schema))
	return slices.DeleteFunc(examples, func(example json.RawMessage) bool {
		if err != nil {
			return true
		}
		input, err := abi.Canonical(example)
		return err != nil || compiled.Validate(input) != nil
	})
}

// schema returns a tool's schema in the form that the API takes, whether it is strict,
// and the rest of it, which the API does not take and the description is to say.
func (d *definer) schema(t *abi.Tool) (schema json.RawMessage, strict bool, rest string, err error) {
	switch d.format {
	case FormatMCP, FormatGemini:
		// Compact, not canonical: authors put the fields that matter first.
		schema, err = encode(json.RawMessage(t.InputSchema))
		return schema, false, "", err
	}
	if schema, strict = d.strict[t.Name]; strict {
		return schema, true, "", nil
	}
	schema, rest, err = modelschema.Plain(t.InputSchema, d.format.api())
	return schema, false, rest, err
}
