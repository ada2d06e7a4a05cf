package host

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

// Format is a model API's way of writing tool definitions.
type Format string

// The formats.
const (
	// FormatAnthropic is the tools array of the Anthropic Messages API.
	FormatAnthropic Format = "anthropic"
	// FormatOpenAI is the tools array of the OpenAI Chat Completions API.
	FormatOpenAI Format = "openai"
	// FormatResponses is that of the OpenAI Responses API.
	FormatResponses Format = "openai-responses"
	// FormatGemini is the tools array of the Gemini API's generateContent.
	FormatGemini Format = "gemini"
	// FormatMCP is the tools array of the Model Context Protocol's tools/list.
	FormatMCP Format = "mcp"
)

// Formats lists the formats there are.
func Formats() []Format {
	return []Format{FormatAnthropic, FormatOpenAI, FormatResponses, FormatGemini, FormatMCP}
}

type anthropicTool struct {
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	InputSchema   json.RawMessage   `json:"input_schema"`
	InputExamples []json.RawMessage `json:"input_examples,omitempty"`
	Strict        bool              `json:"strict,omitempty"`
}

type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict,omitempty"`
}

// responsesTool says whether it is strict in any case: the API takes those that do not
// say so for strict.
type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type geminiTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parametersJsonSchema"`
}

type geminiTools struct {
	Declarations []json.RawMessage `json:"functionDeclarations"`
}

type mcpTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  mcpAnnotations  `json:"annotations"`
}

// mcpAnnotations are hints by their nature; they are given only where the
// manifest says so once and for all.
type mcpAnnotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// Definitions writes the tools that a model may be offered in a session, for an
// API: those that can be called now, are for this session's audience, and are not
// denied as a whole, in an order that depends on nothing else. The same tools give
// the same bytes. While a turn runs, they are those of the next one.
//
// Tools that are deferred (see [Offering]) are marked as such for
// [FormatAnthropic], whose API keeps them from the model until a result refers to
// them; for the others they are left out until they were loaded, so that clients
// do well to ask for the definitions before each message to the model. Once a
// session was asked, a call of a tool that its model cannot know yet is refused,
// with a word on how to load it.
//
// With [Offering].Strict, tools whose contract says so are strict, as many as the API
// takes: for [FormatAnthropic] 20, with 24 optional properties and 16 unions in all.
// Built-in tools come before others, and those with fewer optional properties before
// those with more. Their schemas are rewritten to the API's rules,
// and bounds that it refuses are told in descriptions. A tool whose schema has no such
// form is not strict.
//
// [Session.Request] writes the list with a tool choice.
func (s *Session) Definitions(format Format) (json.RawMessage, error) {
	p, err := s.pool(s.next(), format)
	if err != nil {
		return nil, err
	}
	return s.knows.tell(p)
}

// encode writes the definitions of a pool, without those that the model is not
// to be told of yet.
func (p *pool) encode(loaded map[string]bool) (json.RawMessage, error) {
	list := make([]json.RawMessage, 0, len(p.tools))
	for _, t := range p.tools {
		switch {
		case !t.deferred:
		case p.format == FormatAnthropic:
			t.definition = markDeferred(t.definition)
		case !loaded[t.Name]:
			continue
		}
		list = append(list, t.definition)
	}
	if p.format == FormatGemini && len(list) > 0 {
		return encodeJSON([]geminiTools{{list}})
	}
	return encodeJSON(list)
}

// markDeferred marks a definition as one that waits, for the one API that knows of
// such.
func markDeferred(definition json.RawMessage) json.RawMessage {
	return append(slices.Clone(definition[:len(definition)-1]), `,"defer_loading":true}`...)
}

// definer writes the definitions of one list of tools.
type definer struct {
	format   Format
	examples bool
	// strict are the schemas of those that are strict, by name.
	strict map[string]json.RawMessage
}

// definer is what writes the definitions of some tools, which are in their order.
func (o *Offering) definer(format Format, tools []pooled) *definer {
	d := &definer{format: format, examples: o.Examples}
	if !o.Strict || format == FormatMCP || format == FormatGemini {
		return d
	}
	type candidate struct {
		pooled
		modelschema.Schema
	}
	var candidates []candidate
	for _, t := range tools {
		if s, err := modelschema.Strict(t.InputSchema, apiOf(format)); t.Strict && err == nil {
			candidates = append(candidates, candidate{t, s})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(rank(a.tool), rank(b.tool)), cmp.Compare(a.Optional(), b.Optional()))
	})
	d.strict = make(map[string]json.RawMessage)
	budget := modelschema.NewBudget(apiOf(format))
	for _, c := range candidates {
		if budget.Take(c.Schema) {
			d.strict[c.Name] = c.JSON
		}
	}
	return d
}

// apiOf is whose rules for schemas a format follows.
func apiOf(format Format) modelschema.API {
	if format == FormatOpenAI || format == FormatResponses {
		return modelschema.OpenAI
	}
	return modelschema.Anthropic
}

// define writes the contract of a tool, with more behind its description.
func (d *definer) define(t pooled, more string) (json.RawMessage, error) {
	schema, strict, rest, err := d.schema(t.Tool)
	if err != nil {
		return nil, fmt.Errorf("the input schema of %s: %w", t.Name, err)
	}
	description := cmp.Or(t.Description, t.Summary)
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
		description = strings.Join(list, "\n")
	}
	description += more
	switch d.format {
	case FormatAnthropic:
		return encodeJSON(anthropicTool{Name: t.Name, Description: description, InputSchema: schema, InputExamples: examples, Strict: strict})
	case FormatOpenAI:
		return encodeJSON(openAITool{Type: "function", Function: openAIFunction{t.Name, description, schema, strict}})
	case FormatResponses:
		return encodeJSON(responsesTool{"function", t.Name, description, schema, strict})
	case FormatGemini:
		return encodeJSON(geminiTool{t.Name, description, schema})
	case FormatMCP:
		return encodeJSON(mcpToolOf(t, description, schema))
	}
	return nil, fmt.Errorf("no format %q; there are %v", d.format, Formats())
}

// fitting are the examples that fit a schema as an API is given it: for one that does not,
// it refuses the whole request. Those with further properties fit no strict schema.
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

// schema is a tool's schema in the form that the API takes, whether it is strict, and
// what of it is to be told in words.
func (d *definer) schema(t *abi.Tool) (schema json.RawMessage, strict bool, rest string, err error) {
	switch d.format {
	case FormatMCP, FormatGemini:
		// Compact, not canonical: authors put the fields that matter first.
		schema, err = encodeJSON(json.RawMessage(t.InputSchema))
		return schema, false, "", err
	}
	if schema, strict = d.strict[t.Name]; strict {
		return schema, true, "", nil
	}
	schema, rest, err = modelschema.Plain(t.InputSchema, apiOf(d.format))
	return schema, false, rest, err
}

func mcpToolOf(t pooled, description string, schema json.RawMessage) mcpTool {
	d := mcpTool{
		Name: t.Name, Title: t.Display, Description: description, InputSchema: schema,
		Annotations: mcpAnnotations{ReadOnly: known(t.ReadOnly), Destructive: known(t.Destructive)},
	}
	if staysHere(t.tool) {
		d.Annotations.OpenWorld = new(false)
	}
	if t.OutputSchema != "" {
		d.OutputSchema = json.RawMessage(t.OutputSchema)
	}
	return d
}

// staysHere reports whether a tool certainly reaches nothing beyond this machine: a
// plugin does only what its capabilities do, and of those commands alone go further.
func staysHere(t tool) bool {
	_, native := t.(*nativeTool)
	_, runs := t.declares(abi.CapShellRun)
	return !native && !runs
}

func known(t abi.Trait) *bool {
	switch t {
	case abi.TraitTrue:
		return new(true)
	case abi.TraitFalse:
		return new(false)
	}
	return nil
}
