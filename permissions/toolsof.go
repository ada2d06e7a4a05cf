package permissions

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

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
	_ = json.Unmarshal([]byte(t.InputSchema), &schema) // without properties nothing is known of the tool
	return Tool{
		Name: t.Name, Aliases: t.Aliases, Fields: t.Fields,
		Properties: slices.Sorted(maps.Keys(schema.Properties)),
	}
}
