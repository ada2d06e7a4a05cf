package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// ToolChoice says whether a model is to call tools, and which; the zero value leaves it
// to the API, which is [ChooseAuto].
type ToolChoice struct {
	Type ChoiceType
	// Name is the tool's, with [ChooseTool].
	Name string
}

// ChoiceType is what a model may choose from.
type ChoiceType string

// The choices.
const (
	// ChooseAuto lets the model answer or call tools.
	ChooseAuto ChoiceType = "auto"
	// ChooseAny has it call at least one tool.
	ChooseAny ChoiceType = "any"
	// ChooseNone has it call none.
	ChooseNone ChoiceType = "none"
	// ChooseTool has it call the one that is named.
	ChooseTool ChoiceType = "tool"
)

// ParseToolChoice reads a choice: auto, any, none, or tool:NAME. Empty is the zero value.
func ParseToolChoice(text string) (ToolChoice, error) {
	if name, ok := strings.CutPrefix(text, string(ChooseTool)+":"); ok && name != "" {
		return ToolChoice{Type: ChooseTool, Name: name}, nil
	}
	c := ToolChoice{Type: ChoiceType(text)}
	if slices.Contains([]ChoiceType{"", ChooseAuto, ChooseAny, ChooseNone}, c.Type) {
		return c, nil
	}
	return ToolChoice{}, fmt.Errorf("no tool choice %q; there are auto, any, none and tool:NAME", text)
}

// toolRequest is the part of a request that is about tools.
type toolRequest struct {
	Tools  json.RawMessage `json:"tools"`
	Choice any             `json:"tool_choice,omitempty"`
	Config any             `json:"toolConfig,omitempty"`
}

// namedChoice is a choice in the APIs that write it as an object.
type namedChoice struct {
	Type     string     `json:"type"`
	Name     string     `json:"name,omitempty"`
	Function *namedTool `json:"function,omitempty"`
}

type namedTool struct {
	Name string `json:"name"`
}

type geminiConfig struct {
	Calling geminiCalling `json:"functionCallingConfig"`
}

type geminiCalling struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames,omitempty"`
}

// Request writes the part of a request to a model API that is about tools: an object
// with tools, as [Session.Definitions] has them, and tool_choice or, for [FormatGemini],
// toolConfig. A choice that nothing offered fits is refused; [FormatMCP] has none. Where
// no tool is offered the object is empty: APIs refuse an empty list, and a choice without
// tools.
func (s *Session) Request(format Format, choice ToolChoice) (json.RawMessage, error) {
	p, err := s.pool(s.next(), format)
	if err != nil {
		return nil, err
	}
	if err := s.canChoose(p, choice); err != nil {
		return nil, err
	}
	if ready, _ := p.names(); len(ready) == 0 && format != FormatMCP {
		return json.RawMessage("{}"), nil
	}
	var r toolRequest
	switch format {
	case FormatAnthropic, FormatOpenAI, FormatResponses:
		r.Choice = choice.written(format)
	case FormatGemini:
		r.Config = choice.gemini(s.host.options.Offer.Strict)
	default:
		if choice.Type != "" {
			return nil, fmt.Errorf("the format %s has no tool choice", format)
		}
	}
	if r.Tools, err = s.knows.tell(p); err != nil {
		return nil, err
	}
	return encodeJSON(r)
}

// canChoose refuses a choice of what the model cannot call.
func (s *Session) canChoose(p *pool, choice ToolChoice) error {
	ready, _ := p.names()
	switch choice.Type {
	case ChooseAny:
		if len(ready) == 0 {
			return abi.Errorf(abi.CodeUnknownTool, "the tool choice is any, and no tool is offered")
		}
	case ChooseTool:
		if !slices.ContainsFunc(p.tools, func(t pooled) bool { return t.Name == choice.Name && (!t.deferred || s.knows.has(t.Name)) }) {
			return abi.Errorf(abi.CodeUnknownTool, "the tool choice is %q, which is not offered; there are %s", choice.Name, strings.Join(ready, ", "))
		}
	case "", ChooseAuto, ChooseNone:
	default:
		return fmt.Errorf("no tool choice %q", choice.Type)
	}
	return nil
}

// written is the choice for all but Gemini; nil leaves it out.
func (c ToolChoice) written(format Format) any {
	anthropic := format == FormatAnthropic
	switch {
	case c.Type == "":
		return nil
	case c.Type == ChooseTool && anthropic:
		return namedChoice{Type: "tool", Name: c.Name}
	case c.Type == ChooseTool && format == FormatOpenAI:
		return namedChoice{Type: "function", Function: &namedTool{c.Name}}
	case c.Type == ChooseTool:
		return namedChoice{Type: "function", Name: c.Name}
	case anthropic:
		return namedChoice{Type: string(c.Type)}
	case c.Type == ChooseAny:
		return "required"
	}
	return string(c.Type)
}

// gemini is the choice for Gemini, which holds the model to the schemas of all tools in
// a mode of its own.
func (c ToolChoice) gemini(strict bool) any {
	switch {
	case c.Type == ChooseTool:
		return geminiConfig{geminiCalling{Mode: "ANY", Allowed: []string{c.Name}}}
	case c.Type == ChooseAny || c.Type == ChooseNone:
		return geminiConfig{geminiCalling{Mode: strings.ToUpper(string(c.Type))}}
	case strict:
		return geminiConfig{geminiCalling{Mode: "VALIDATED"}}
	case c.Type == ChooseAuto:
		return geminiConfig{geminiCalling{Mode: "AUTO"}}
	}
	return nil
}
