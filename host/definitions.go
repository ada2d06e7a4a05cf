package host

import (
	"bytes"
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

// encodeDefinitions writes the contracts of tools as a JSON array.
func encodeDefinitions(tools []*abi.Tool, format Format) (json.RawMessage, error) {
	list := make([]any, 0, len(tools))
	for _, t := range tools {
		d, err := definition(t, format)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return encodeJSON(list)
}

func definition(t *abi.Tool, format Format) (any, error) {
	// Compact, not canonical: authors put the fields that matter first.
	var schema bytes.Buffer
	if err := json.Compact(&schema, []byte(t.InputSchema)); err != nil {
		return nil, fmt.Errorf("the input schema of %s: %w", t.Name, err)
	}
	description := t.Description
	if description == "" {
		description = t.Summary
	}
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
