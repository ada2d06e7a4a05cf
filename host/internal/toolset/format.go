package toolset

import (
	"bytes"
	"encoding/json"

	"github.com/toolquay/toolquay/host/internal/modelschema"
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

// Formats lists all formats.
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

// responsesTool always has strict: without it the API assumes true.
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
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  mcpAnnotations  `json:"annotations"`
	Icons        []mcpIcon       `json:"icons,omitempty"`
}

// mcpAnnotations are hints that hold for all calls. What only a call tells is the worse.
type mcpAnnotations struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

// mcpIcon is a picture of a tool. Sizes is set where it has any size.
type mcpIcon struct {
	Source string   `json:"src"`
	Type   string   `json:"mimeType"`
	Sizes  []string `json:"sizes,omitempty"`
}

// api is whose rules for schemas a format follows.
func (f Format) api() modelschema.API {
	if f == FormatOpenAI || f == FormatResponses {
		return modelschema.OpenAI
	}
	return modelschema.Anthropic
}

// encode encodes without escaping for HTML, which models read badly.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
