package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// decodeLines reads JSON Lines.
func decodeLines(r io.Reader, s *sink) {
	in := newLines(r, false)
	for !s.gone {
		line, err := in.next()
		s.line = in.number
		over := errors.Is(err, io.EOF)
		switch {
		case errors.Is(err, errLong):
			s.fault(abi.ToolUse{}, err)
		case err != nil && !over:
			s.fault(abi.ToolUse{}, broken("reading the stream: %w", err))
			return
		case len(bytes.TrimSpace(line)) > 0:
			s.takeLine(line)
		}
		if over {
			return
		}
	}
}

// takeLine reads one line, of which nothing counts unless all of it is right.
func (s *sink) takeLine(line []byte) {
	doc, err := abi.Canonical(line)
	if err != nil {
		s.fault(abi.ToolUse{}, err)
		return
	}
	if doc[0] != '{' {
		s.fault(abi.ToolUse{}, invalid(`it is no object; a line is one such as {"type": "tool_use", ...}`))
		return
	}
	// Keys are taken exactly as written: a struct would also take Name for name.
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(doc, &keys); err != nil {
		s.fault(abi.ToolUse{}, invalid("%w", err))
		return
	}
	l := object{keys: keys}
	item := l.item()
	if l.err != nil {
		s.fault(item.Call, l.err)
		return
	}
	s.put(item)
}

// object is the object of a line, and the first thing that was wrong with it.
type object struct {
	keys map[string]json.RawMessage
	err  error
}

// The types of a line.
const (
	lineCall       = "tool_use"
	lineAnswer     = "answer"
	linePermission = "permission" // answers a question for an approval, too
	lineInterrupt  = "interrupt"
	lineDiscard    = "discard"
	lineEnd        = "end"
	lineMode       = "mode"
	lineBackground = "background"
	lineStop       = "stop"
)

// lineTypes are all types of a line.
var lineTypes = []string{
	lineCall, lineAnswer, linePermission, lineInterrupt, lineDiscard, lineEnd, lineMode, lineBackground, lineStop,
}

func (o *object) item() Item {
	switch kind := o.text("type", true); {
	case o.err != nil:
	case kind == lineCall:
		use := abi.ToolUse{ID: o.text("id", true), Name: o.text("name", true), Input: o.keys["input"]}
		o.only("id", "name", "input")
		return Item{Kind: KindCall, Call: use}
	case kind == linePermission:
		return Item{Kind: KindAnswer, Answer: o.answer("approval")}
	case kind == lineAnswer:
		return Item{Kind: KindAnswer, Answer: o.answer("question", "content")}
	case kind == lineInterrupt:
		o.only()
		return Item{Kind: KindInterrupt}
	case kind == lineDiscard:
		o.only()
		return Item{Kind: KindDiscard}
	case kind == lineEnd:
		o.only()
		return Item{Kind: KindEnd}
	case kind == lineMode:
		return o.mode()
	case kind == lineBackground:
		o.only("tool_use_id")
		return Item{Kind: KindBackground, ID: o.text("tool_use_id", true)}
	case kind == lineStop:
		o.only("task_id")
		return Item{Kind: KindStop, ID: o.text("task_id", true)}
	default:
		o.fail("the type %q is not known; there are %s", shown(kind), strings.Join(lineTypes, ", "))
	}
	return Item{}
}

// mode reads a change of the mode: into one that is named, or out of plan.
func (o *object) mode() Item {
	leave := o.flag("leave_plan")
	name := o.text("mode", !leave)
	o.only("mode", "leave_plan")
	if leave && name != "" {
		o.fail("a line says mode or leave_plan, not both")
	}
	if leave || o.err != nil {
		return Item{Kind: KindMode}
	}
	mode, err := permissions.ParseMode(name)
	if err != nil {
		o.fail("%s", shown(err.Error()))
	}
	return Item{Kind: KindMode, Mode: mode}
}

// answer reads an answer to the question that a key names.
func (o *object) answer(key string, more ...string) Answer {
	a := Answer{
		Question: o.text(key, true),
		Answer:   host.Answer(o.text("answer", true)),
		Message:  o.text("message", false),
		EndTurn:  o.flag("end_turn"),
		Remember: host.RuleTarget(o.text("remember", false)),
		Input:    o.keys["input"],
		Content:  o.keys["content"],
	}
	o.only(append([]string{key, "answer", "message", "end_turn", "remember", "input"}, more...)...)
	switch {
	case !slices.Contains([]host.Answer{host.AnswerAllow, host.AnswerDeny, host.AnswerLater}, a.Answer):
		o.fail("the answer %q is not known; there are allow, deny, later", shown(string(a.Answer)))
	case a.Message != "" && a.Answer != host.AnswerDeny:
		o.fail("a message for the model comes with the answer deny alone")
	case a.EndTurn && a.Answer != host.AnswerDeny:
		o.fail("end_turn comes with the answer deny alone")
	case (a.Remember != "" || a.Input != nil || a.Content != nil) && a.Answer != host.AnswerAllow:
		o.fail("remember, input and content come with the answer allow alone")
	}
	return a
}

// flag is true or false; false where it is not there.
func (o *object) flag(key string) bool {
	switch raw := string(o.keys[key]); raw {
	case "true":
		return true
	case "", "false":
	default:
		o.fail("%s must be true or false", key)
	}
	return false
}

// text is a string. One that is needed must be there and not be empty.
func (o *object) text(key string, needed bool) string {
	raw, there := o.keys[key]
	var text string
	switch {
	case there && raw[0] != '"':
		o.fail("%s must be a string", key)
	case there:
		if err := json.Unmarshal(raw, &text); err != nil {
			o.fail("%s: %w", key, err)
		}
	}
	if needed && text == "" {
		o.fail("%s is missing", key)
	}
	return text
}

// only refuses keys but the type and those given: what a misspelt one was to say
// is not passed over in silence.
func (o *object) only(known ...string) {
	for _, key := range slices.Sorted(maps.Keys(o.keys)) {
		if key != "type" && !slices.Contains(known, key) {
			o.fail("the key %q is not known here; beside type there may be %s", shown(key), strings.Join(append(known, "nothing else"), ", "))
		}
	}
}

func (o *object) fail(format string, args ...any) {
	if o.err == nil {
		o.err = invalid(format, args...)
	}
}
