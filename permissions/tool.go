package permissions

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

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

// ToolsOf describes the tools that deny and ask rules on fields of their input are
// about, for [Setup.Tools]. Lookup finds a tool by name or alias. Of other tools
// nothing needs to be known, so that their contracts need not be read.
func ToolsOf(rules []RuleSet, lookup func(name string) (*abi.Tool, bool)) []Tool {
	var out []Tool
	seen := make(map[string]bool)
	for _, r := range rules {
		for _, text := range slices.Concat(r.Deny, r.Ask) {
			name, spec, ok := strings.Cut(text.Text, "(")
			if name = strings.TrimSpace(name); !ok || !strings.Contains(spec, ":") || seen[name] {
				continue
			}
			seen[name] = true
			if t, ok := lookup(name); ok {
				out = append(out, describe(t))
			}
		}
	}
	return out
}

func describe(t *abi.Tool) Tool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal([]byte(t.InputSchema), &schema) // a tool without properties is one of which nothing is known
	return Tool{
		Name: t.Name, Aliases: t.Aliases, Fields: t.Fields,
		Properties: slices.Sorted(maps.Keys(schema.Properties)),
	}
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
