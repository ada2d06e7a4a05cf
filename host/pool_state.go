package host

import (
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// ToolState is what a session's model is told of one tool, or why nothing.
type ToolState struct {
	*abi.Tool
	// Plugin is the plugin that the tool is one of; empty for an embedder's own.
	Plugin string
	// Deferred says that the model is told of the name alone, and Loaded that it was
	// given the definition since.
	Deferred, Loaded bool
	// Chars is the size of the definition, in code points; 0 where it is not offered.
	Chars int
	// NotOffered says why the model is not told of it; nil where it is.
	NotOffered error
}

// Tools lists all tools that there are, offered or not, in the order in which
// models are told of them, with sizes as of a format's definitions. It does not
// count as telling the model (see [Session.Definitions]).
func (s *Session) Tools(format Format) ([]ToolState, error) {
	v := s.next()
	p, err := s.pool(v, format)
	if err != nil {
		return nil, err
	}
	told := make(map[string]pooled, len(p.tools))
	for _, t := range p.tools {
		told[t.Name] = t
	}
	all := s.host.all(v.plugins)
	states := make([]ToolState, len(all))
	for i, t := range all {
		state := ToolState{Tool: t.contract(), Plugin: t.source().plugin}
		if in, ok := told[state.Name]; ok {
			state.Deferred, state.Loaded = in.deferred, in.deferred && s.knows.has(state.Name)
			state.Chars = utf8.RuneCount(in.definition)
		} else {
			state.NotOffered = s.notOffered(v, t)
		}
		states[i] = state
	}
	return states, nil
}

// notOffered says why a tool is not in the session's pool.
func (s *Session) notOffered(v *view, t tool) error {
	contract := t.contract()
	if err := t.available(); err != nil {
		return err
	}
	if contract.Enabled == abi.TraitFalse {
		return abi.Errorf(abi.CodeDisabled, "its manifest switches it off")
	}
	if !v.offers(contract) {
		return abi.Errorf(abi.CodeDenied, "a deny rule binds all of its calls")
	}
	if err := s.withholds(t); err != nil {
		return err
	}
	return abi.Errorf(abi.CodeDisabled, "no tool is deferred, so there is nothing to find")
}
