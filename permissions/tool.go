package permissions

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
)

// Tool is what rules need to know of a tool's input.
type Tool struct {
	Name    string
	Aliases []string
	// Properties are the names of its input's fields.
	Properties []string
	// Fields are those that become accesses, and so are matched by rules of
	// their kind.
	Fields []abi.Field
}

// The tools whose rules speak of commands and hosts, whichever tool gets there.
const (
	toolBash       = "Bash"
	toolPowerShell = "PowerShell"
	toolWebFetch   = "WebFetch"
)

// takes reports whether the tool has a field of a kind. Of a nil tool nothing is
// known.
func (t *Tool) takes(kind abi.FieldKind) bool {
	return t != nil && slices.ContainsFunc(t.Fields, func(f abi.Field) bool { return f.Kind == kind })
}

// hasParam reports whether a rule may name a field: a property other than those
// that are matched already.
func (t *Tool) hasParam(name string) bool {
	return t == nil || slices.Contains(t.Properties, name) &&
		!slices.ContainsFunc(t.Fields, func(f abi.Field) bool { return f.Name == name })
}

// tools are the tools by name.
type tools map[string]*Tool

func newTools(list []Tool) tools {
	known := make(tools, len(list))
	for i := range list {
		known[list[i].Name] = &list[i]
	}
	return known
}
