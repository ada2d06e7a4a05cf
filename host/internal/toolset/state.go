package toolset

import (
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// State is what a session's model is told of one tool, or why it is told nothing.
type State struct {
	*abi.Tool
	// Plugin is the name of the tool's plugin; empty for one of the embedder's.
	Plugin string
	// Deferred is true if the model is told of the tool by name alone, Loaded if it was
	// given the definition since.
	Deferred, Loaded bool
	// Chars is the size of the definition, in code points; 0 if it is not offered.
	Chars int
	// NotOffered is why the model is not told of the tool; nil if it is.
	NotOffered error
}

// States returns the state of all tools, in a set that was made of them.
func (s *Set) States(tools []Tool, k *Known) []State {
	offered := make(map[string]*entry, len(s.tools))
	for i := range s.tools {
		offered[s.tools[i].Name] = &s.tools[i]
	}
	states := make([]State, len(tools))
	for i, t := range tools {
		state := State{Tool: t.Tool, Plugin: t.Plugin, NotOffered: t.NotOffered}
		if in := offered[t.Name]; in != nil {
			state.Deferred, state.Loaded = in.deferred, in.deferred && k.Loaded(t.Name)
			state.Chars = utf8.RuneCount(in.definition)
		} else if state.NotOffered == nil {
			state.NotOffered = abi.Errorf(abi.CodeDisabled, "no tool is deferred, so there is nothing to find")
		}
		states[i] = state
	}
	return states
}
