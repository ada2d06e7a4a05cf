package toolset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// Choice sets whether a model is to call tools, and which. The zero value leaves it to
// the API, whose default is [ChooseAuto].
type Choice struct {
	Type ChoiceType
	// Name is the name of the tool for [ChooseTool].
	Name string
}

// ChoiceType is the kind of a choice.
type ChoiceType string

// The choices.
const (
	// ChooseAuto lets the model answer or call tools.
	ChooseAuto ChoiceType = "auto"
	// ChooseAny makes it call at least one tool.
	ChooseAny ChoiceType = "any"
	// ChooseNone makes it call none.
	ChooseNone ChoiceType = "none"
	// ChooseTool makes it call the named one.
	ChooseTool ChoiceType = "tool"
)

// ParseChoice parses a choice: auto, any, none, or tool:NAME. Empty is the zero value.
func ParseChoice(text string) (Choice, error) {
	if name, ok := strings.CutPrefix(text, string(ChooseTool)+":"); ok && name != "" {
		return Choice{Type: ChooseTool, Name: name}, nil
	}
	c := Choice{Type: ChoiceType(text)}
	if slices.Contains([]ChoiceType{"", ChooseAuto, ChooseAny, ChooseNone}, c.Type) {
		return c, nil
	}
	return Choice{}, fmt.Errorf("no tool choice %q; there are auto, any, none and tool:NAME", text)
}

// request is the part of a request that is about tools.
type request struct {
	Tools  json.RawMessage `json:"tools"`
	Choice any             `json:"tool_choice,omitempty"`
	Config any             `json:"toolConfig,omitempty"`
}

// namedChoice is a choice for the APIs that write it as an object.
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

// Request returns the part of a request to a model API that is about tools, and records
// that the model has the definitions in it. A choice that no offered tool fits is an
// error, as is any for [FormatMCP]. If no tool is offered the object is empty: APIs refuse
// an empty list, and a choice without tools.
func (s *Set) Request(choice Choice, k *Known) (json.RawMessage, error) {
	if err := s.canChoose(choice, k); err != nil {
		return nil, err
	}
	if len(s.Ready()) == 0 && s.format != FormatMCP {
		return json.RawMessage("{}"), nil
	}
	var r request
	switch s.format {
	case FormatAnthropic, FormatOpenAI, FormatResponses:
		r.Choice = choice.written(s.format)
	case FormatGemini:
		r.Config = choice.gemini(s.selection.Strict)
	default:
		if choice.Type != "" {
			return nil, fmt.Errorf("the format %s has no tool choice", s.format)
		}
	}
	var err error
	if r.Tools, err = s.Tell(k); err != nil {
		return nil, err
	}
	return encode(r)
}

// canChoose refuses a choice of what the model cannot call.
func (s *Set) canChoose(choice Choice, k *Known) error {
	ready := s.Ready()
	switch choice.Type {
	case ChooseAny:
		if len(ready) == 0 {
			return abi.Errorf(abi.CodeUnknownTool, "the tool choice is any, and no tool is offered")
		}
	case ChooseTool:
		if !slices.ContainsFunc(s.tools, func(t entry) bool { return t.Name == choice.Name && (!t.deferred || k.Loaded(t.Name)) }) {
			return abi.Errorf(abi.CodeUnknownTool, "the tool choice is %q, which is not offered; there are %s", choice.Name, strings.Join(ready, ", "))
		}
	case "", ChooseAuto, ChooseNone:
	default:
		return fmt.Errorf("no tool choice %q", choice.Type)
	}
	return nil
}

// written is the choice for all APIs but Gemini; nil omits it.
func (c Choice) written(format Format) any {
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

// gemini is the choice for Gemini, which has a separate mode to enforce the schemas of
// all tools.
func (c Choice) gemini(strict bool) any {
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
