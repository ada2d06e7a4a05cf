package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/toolquay/toolquay/abi"
)

// Format is a model API's way of writing tool definitions.
type Format string

// The formats.
const (
	// FormatAnthropic is the tools array of the Anthropic Messages API.
	FormatAnthropic Format = "anthropic"
	// FormatOpenAI is the tools array of the OpenAI Chat Completions API.
	FormatOpenAI Format = "openai"
	// FormatMCP is the tools array of the Model Context Protocol's tools/list.
	FormatMCP Format = "mcp"
)

// Formats lists the formats there are.
func Formats() []Format { return []Format{FormatAnthropic, FormatOpenAI, FormatMCP} }

type anthropicTool struct {
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	InputSchema   json.RawMessage   `json:"input_schema"`
	InputExamples []json.RawMessage `json:"input_examples,omitempty"`
	Strict        bool              `json:"strict,omitempty"`
	DeferLoading  bool              `json:"defer_loading,omitempty"`
}

type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
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
func (s *Session) Definitions(format Format) (json.RawMessage, error) {
	p, err := s.pool(s.next(), format)
	if err != nil {
		return nil, err
	}
	return s.knows.tell(p, format)
}

// encode writes the definitions of a pool, without those that the model is not
// to be told of yet.
func (p *pool) encode(format Format, loaded map[string]bool) (json.RawMessage, error) {
	list := make([]json.RawMessage, 0, len(p.tools))
	for _, t := range p.tools {
		switch {
		case !t.deferred:
		case format == FormatAnthropic:
			marked, err := encodeMarked(t.Tool)
			if err != nil {
				return nil, err
			}
			t.definition = marked
		case !loaded[t.Name]:
			continue
		}
		list = append(list, t.definition)
	}
	return encodeJSON(list)
}

// encodeDefinition writes the contract of a tool, with more behind its
// description.
func encodeDefinition(t *abi.Tool, format Format, more string) (json.RawMessage, error) {
	d, err := definition(t, format, more)
	if err != nil {
		return nil, err
	}
	return encodeJSON(d)
}

// encodeMarked writes the contract of a deferred tool for the one API that knows
// of such.
func encodeMarked(t *abi.Tool) (json.RawMessage, error) {
	d, err := definition(t, FormatAnthropic, "")
	if err != nil {
		return nil, err
	}
	marked, _ := d.(anthropicTool)
	marked.DeferLoading = true
	return encodeJSON(marked)
}

func definition(t *abi.Tool, format Format, more string) (any, error) {
	// Compact, not canonical: authors put the fields that matter first.
	var schema bytes.Buffer
	if err := json.Compact(&schema, []byte(t.InputSchema)); err != nil {
		return nil, fmt.Errorf("the input schema of %s: %w", t.Name, err)
	}
	description := cmp.Or(t.Description, t.Summary) + more
	switch format {
	case FormatAnthropic:
		d := anthropicTool{Name: t.Name, Description: description, InputSchema: schema.Bytes(), Strict: t.Strict}
		for _, example := range t.InputExamples {
			d.InputExamples = append(d.InputExamples, json.RawMessage(example))
		}
		return d, nil
	case FormatOpenAI:
		return openAITool{Type: "function", Function: openAIFunction{Name: t.Name, Description: description, Parameters: schema.Bytes()}}, nil
	case FormatMCP:
		d := mcpTool{
			Name: t.Name, Title: t.Display, Description: description, InputSchema: schema.Bytes(),
			Annotations: mcpAnnotations{ReadOnly: known(t.ReadOnly), Destructive: known(t.Destructive)},
		}
		if t.OutputSchema != "" {
			d.OutputSchema = json.RawMessage(t.OutputSchema)
		}
		return d, nil
	}
	return nil, fmt.Errorf("no format %q; there are %v", format, Formats())
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
