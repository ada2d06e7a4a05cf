package message

import (
	"bytes"
	"errors"

	"github.com/toolquay/toolquay/abi"
)

// MaxSize is the largest message in bytes: that of one JSON document at the
// guest border, through which each call's input has to go.
const MaxSize = abi.MaxJSON

// Format says how calls and their results are written.
type Format string

// The formats.
const (
	// Anthropic is a message of the Anthropic Messages API with tool_use
	// blocks, or a whole response of it; the reply is a user message with
	// tool_result blocks.
	Anthropic Format = "anthropic"
	// OpenAI is a message of the OpenAI Chat Completions API with tool_calls,
	// or a whole response of it; the reply is a list of messages.
	OpenAI Format = "openai"
	// Responses is a whole response of the OpenAI Responses API, or the items of its
	// output, with function_call items; the reply is a list of input items.
	Responses Format = "openai-responses"
	// Gemini is a content of the Gemini API with functionCall parts, or a whole response
	// of it; the reply is a content with functionResponse parts.
	Gemini Format = "gemini"
	// List is a plain JSON list of objects with id, name and input; the reply
	// is JSON lines.
	List Format = "jsonl"
)

// Formats lists the formats there are.
func Formats() []Format { return []Format{Anthropic, OpenAI, Responses, Gemini, List} }

// Message is what was read of one model message.
type Message struct {
	Format Format
	// Calls are the tool calls in their order, at least one. An Input that is
	// no JSON, as models write now and then, is left as it is: it is that
	// call's fault alone, and the host says so.
	Calls []abi.ToolUse
	// Settings is what the message asks to tighten.
	Settings Settings
}

// Settings are the permission rules that a message brings along, in its
// top-level key "settings":
//
//	"settings": {"permissions": {"deny": ["Read(.env)"], "ask": ["Grep"]}}
//
// Everything else there is refused, because a model must not be able to loosen
// what it is held by.
type Settings struct {
	Deny, Ask []string
}

// ErrNoCalls is returned for a message that is well formed and calls no tool.
var ErrNoCalls = errors.New("the message calls no tool")

// Parse reads one message, in whichever format it is. It is refused as a whole
// where it is over [MaxSize], where it is not JSON as [abi.Canonical] takes it
// (duplicate keys and deep nesting among the refusals), where a call has no
// name, and where its settings are anything but rules that tighten. Errors are
// of [abi.CodeInvalidInput] or [abi.CodeTooLarge] and say where.
//
// Calls of a plain list that have no id are given one, call_1 and so on, and those of
// Gemini one that begins with unnamed_, which the reply leaves out. Of a response with
// several choices or candidates the first counts.
func Parse(src []byte) (*Message, error) {
	if len(src) > MaxSize {
		return nil, abi.Errorf(abi.CodeTooLarge, "the message has %d bytes, over the limit of %s", len(src), abi.Size(MaxSize))
	}
	doc, err := abi.Canonical(src)
	if err != nil {
		return nil, placed(src, err)
	}
	var m *Message
	if doc[0] == '[' {
		m, err = parseItems(doc)
	} else {
		m, err = parseObject(doc)
	}
	if err == nil && len(m.Calls) == 0 {
		err = ErrNoCalls
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// placed adds the line and column to a fault that knows its byte.
func placed(src []byte, err error) error {
	fault, ok := errors.AsType[*abi.JSONFault](err)
	if !ok {
		return err
	}
	before := src[:min(fault.Offset, len(src))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return abi.Errorf(abi.CodeOf(err), "line %d, column %d: %w", line, column, err)
}

var errResponse = invalid("this is an error response of a model API, not a message")

// parseItems reads a list: the items of a response's output, if one is a function_call,
// or else a plain list of calls.
func parseItems(doc []byte) (*Message, error) {
	top := object{keys: map[string][]byte{"": doc}}
	items := false
	err := top.each("", func(item object) error {
		items = items || string(item.keys["type"]) == `"function_call"`
		return nil
	})
	if err != nil || !items {
		return parseList(doc)
	}
	calls, err := responsesCalls(top, "")
	return &Message{Format: Responses, Calls: calls}, err
}

func parseObject(doc []byte) (*Message, error) {
	o, err := asObject("the message", doc)
	if err != nil {
		return nil, err
	}
	settings, err := parseSettings(o)
	if err != nil {
		return nil, err
	}
	if o.has("output") {
		calls, err := responsesCalls(o, "output")
		if err == nil && len(calls) == 0 && o.has("error") {
			err = errResponse
		}
		return &Message{Responses, calls, settings}, err
	}
	if o, err = o.firstChoice(); err != nil {
		return nil, err
	}
	role, err := o.text("role")
	if o.has("parts") && role == "model" {
		role = "assistant"
	}
	m := &Message{Settings: settings}
	switch {
	case err != nil:
	case o.has("error") && !o.has("content") && !o.has("tool_calls") && !o.has("parts"):
		err = errResponse
	case role != "" && role != "assistant":
		err = invalid("the message has the role %q; tool calls come in one of the role \"assistant\"", role)
	case o.has("tool_calls"):
		m.Format = OpenAI
		m.Calls, err = openAICalls(o)
	case o.has("content"):
		m.Format = Anthropic
		m.Calls, err = anthropicCalls(o)
	case o.has("parts"):
		m.Format = Gemini
		m.Calls, err = geminiCalls(o)
	case role == "":
		err = invalid("the message has no content (Anthropic), tool_calls (OpenAI), output (OpenAI Responses) or parts (Gemini); a plain list of calls is [{\"name\": ..., \"input\": {...}}]")
	}
	return m, err
}

// firstChoice is the message inside a response of the OpenAI API, or the content
// inside one of the Gemini API, or else the object itself.
func (o object) firstChoice() (object, error) {
	for _, at := range [][2]string{{"choices", "message"}, {"candidates", "content"}} {
		list, inner := at[0], at[1]
		choices, err := o.list(list)
		if err != nil {
			return o, err
		}
		if len(choices) == 0 {
			continue
		}
		choice, err := asObject(list+"[0]", choices[0])
		if err != nil {
			return o, err
		}
		return asObject(list+"[0]."+inner, choice.keys[inner])
	}
	return o, nil
}
