package pipeline

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/display"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/toolset"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/permissions"
)

// request is what a call asks for, as far as it is known before its turn comes: which
// tool, with which input, and how that may be scheduled.
type request struct {
	use   abi.ToolUse
	tool  tool.Tool // nil where there is none
	input *input
	title string
	// said is what the guest says of how the call is shown, and shown how it is.
	said  abi.Assessment
	shown *display.Call
	// traits are what orders the call, and settled what [Turn].Altered was when they
	// were found out last.
	traits  traits.Traits
	settled int64
	// idle says that the call has its result and holds nobody back: there is no such tool, say.
	idle bool
}

// accept takes an input for the tool, which is held against the tool's schema.
func (r *request) accept(canonical json.RawMessage) error {
	canonical, err := r.tool.Validate(canonical)
	if err != nil {
		return err
	}
	if r.input == nil || !bytes.Equal(r.input.json, canonical) {
		r.input = newInput(canonical)
	}
	r.title = r.titled()
	return nil
}

// ID is the call's id.
func (r *request) ID() string { return r.use.ID }

// Name is the tool's name, or what the model wrote for it.
func (r *request) Name() string { return r.name() }

// IsPlugins reports whether the tool is a plugin's.
func (r *request) IsPlugins() bool {
	_, plugin := r.tool.(tool.Plugin)
	return plugin
}

// name is the tool's, or what the model wrote for it.
func (r *request) name() string {
	if r.tool == nil {
		return r.use.Name
	}
	return r.tool.Contract().Name
}

// server is whose tool it is. The tool must be known, and the input accepted.
func (r *request) server() tool.Server { return r.tool.Server(r.input.json) }

// short is the call in a few words: its tool, and what it is about.
func (r *request) short() string {
	if r.title == "" {
		return r.name()
	}
	return r.name() + "(" + r.title + ")"
}

// describe puts the tool's name before what is wrong with its input.
func (r *request) describe(err error) error {
	return abi.Errorf(abi.CodeOf(err), "%s: %w", r.tool.Contract().Name, err)
}

// fields are the input's, decoded.
func (r *request) fields() (map[string]json.RawMessage, error) {
	fields, err := r.input.fields()
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "%s: the input is no JSON object", r.name())
	}
	return fields, nil
}

// maxTitle cuts longer titles, in code points.
const maxTitle = 80

// titled is one line for people: the input field that the manifest names, or the first
// one that is a path, a command or a host.
func (r *request) titled() string {
	contract := r.tool.Contract()
	name := contract.Title
	if name == "" && len(contract.Fields) > 0 {
		name = contract.Fields[0].Name
	}
	if name == "" {
		return ""
	}
	fields, err := r.input.fields()
	var text string
	if err != nil || json.Unmarshal(fields[name], &text) != nil {
		return ""
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxTitle {
		text = string(runes[:maxTitle-1]) + "…"
	}
	return text
}

// inBackground reports whether the input asks to run a command in the background.
func (r *request) inBackground() bool {
	fields, err := r.input.fields()
	return err == nil && string(fields[toolset.BackgroundField]) == "true"
}

// leave is the input field that asks to run a command outside the sandbox.
const leave = "dangerouslyDisableSandbox"

// leavesSandbox reports whether the model asks to run a command outside the sandbox.
// Anything but a plain no is a yes, however a decoder may read the key.
func (r *request) leavesSandbox() bool {
	fields, err := r.input.fields()
	if err != nil {
		return true
	}
	for key, said := range fields {
		if strings.EqualFold(key, leave) && string(said) != "false" && string(said) != "null" {
			return true
		}
	}
	return false
}

// commandsNamed are the commands that the input names; false is that the tool has no
// field for any.
func (r *request) commandsNamed() (named []string, names bool, err error) {
	fields, err := r.fields()
	if err != nil {
		return nil, false, err
	}
	for _, field := range r.tool.Contract().Fields {
		if field.Kind != abi.FieldCommand {
			continue
		}
		values, err := valuesOf(field, fields[field.Name])
		if err != nil {
			return nil, true, abi.Errorf(abi.CodeInvalidInput, "%s: %w", r.name(), err)
		}
		named, names = append(named, values...), true
	}
	return named, names, nil
}

// validatesItself reports whether the tool has a say in whether it is called.
func (r *request) validatesItself() bool {
	contract := r.tool.Contract()
	return contract.Validates || contract.Checks
}

// effects says how much of what the call does is known before it starts. A
// plugin can do nothing but ask for capabilities; an embedder's own tool does
// what it likes, unless it says that it is read-only or names its fields. A server acts out of
// sight, whatever it says.
func (r *request) effects() permissions.Effects {
	t, native := r.tool.(*tool.Native)
	switch {
	case !native:
		return permissions.EffectsGated
	case t.Source().Trusted && (len(t.Contract().Fields) > 0 || r.traits.ReadOnly):
		return permissions.EffectsListed
	}
	return permissions.EffectsUnknown
}

// mayMove reports whether the call may leave the session in another working
// directory, which is more than any lock. A native tool that has locks is held to
// not doing so (see [Call.mayChange]).
func (r *request) mayMove() bool {
	if _, native := r.tool.(*tool.Native); native {
		return false
	}
	_, moves := r.tool.Declares(abi.CapSessionCwd)
	return moves
}
