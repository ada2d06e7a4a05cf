package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/permissions"
)

// accesses finds out what a call's own input says it will touch, with each path
// resolved as the file system now has it, and what is known of those paths.
func (c *Call) accesses(v *rules.View) ([]permissions.Access, []abi.Fact, error) {
	contract := c.tool.Contract()
	if len(contract.Fields) == 0 {
		return nil, nil, nil
	}
	input, err := c.fields()
	if err != nil {
		return nil, nil, err
	}
	var accesses []permissions.Access
	var facts []abi.Fact
	if err := exactKeys(contract, input); err != nil {
		return nil, nil, err
	}
	for _, field := range contract.Fields {
		values, err := valuesOf(field, input[field.Name])
		if err != nil {
			return nil, nil, abi.Errorf(abi.CodeInvalidInput, "%s: %w", contract.Name, err)
		}
		for _, value := range values {
			switch field.Kind {
			case abi.FieldPath:
				access, fact, err := c.resolvePath(v.Cwd, field, value)
				if err != nil {
					return nil, nil, abi.Errorf(abi.CodeOf(err), "%s: %s: %w", contract.Name, field.Name, err)
				}
				accesses, facts = append(accesses, access), append(facts, fact)
			case abi.FieldCommand:
				accesses = append(accesses, permissions.Access{Kind: permissions.AccessExec, Target: value})
			case abi.FieldHost:
				accesses = append(accesses, permissions.Access{Kind: permissions.AccessNet, Target: value})
			}
		}
	}
	return accesses, facts, nil
}

// exactKeys refuses input keys that some decoders take for a field that is
// judged and that the judgement does not: Go's folds case, and K, the Kelvin
// sign, into k.
func exactKeys(contract *abi.Tool, input map[string]json.RawMessage) error {
	for _, field := range contract.Fields {
		for key := range input {
			if key != field.Name && strings.EqualFold(key, field.Name) {
				return abi.Errorf(abi.CodeInvalidInput, "%s: %q: write the field as %q", contract.Name, key, field.Name)
			}
		}
	}
	return nil
}

// valuesOf is a field's string, its strings, or where it has none, its default.
// A value of another kind could be read in ways that were not judged.
func valuesOf(field abi.Field, raw json.RawMessage) ([]string, error) {
	var one *string
	var many []string
	switch {
	case len(raw) == 0:
	case json.Unmarshal(raw, &one) == nil:
		if one != nil && *one != "" {
			return []string{*one}, nil
		}
	case json.Unmarshal(raw, &many) == nil:
		if len(many) > 0 {
			return many, nil
		}
	default:
		return nil, fmt.Errorf("%s: expected a string or a list of strings", field.Name)
	}
	if field.Default != "" {
		return []string{field.Default}, nil
	}
	return nil, nil
}

func (c *Call) resolvePath(cwd string, field abi.Field, path string) (permissions.Access, abi.Fact, error) {
	node, err := c.session().Storage.Overlay(cwd, path)
	if err != nil {
		return permissions.Access{}, abi.Fact{}, err
	}
	defer node.Close()
	kind := permissions.AccessRead
	if field.Effect == "write" {
		kind = permissions.AccessWrite
	}
	fact := abi.Fact{Path: path, Exists: node.Exists()}
	var now *capability.Stamp
	if fact.Exists {
		fact.Kind, fact.Size, now = node.Info.Kind, node.Info.Size, new(node.Info.Stamp())
	}
	fact.Read, fact.Changed = c.files.Read(node.Real, now)
	return node.Access(kind, fact.Kind == abi.KindDirectory), fact, nil
}

// allowedFacts keeps the facts about paths that the rules allow the call to
// read: a tool learns nothing of the others, not even whether they exist.
func (g *callGate) allowedFacts(accesses []permissions.Access, facts []abi.Fact) []abi.Fact {
	if len(facts) == 0 {
		return nil
	}
	paths := slices.DeleteFunc(slices.Clone(accesses), func(a permissions.Access) bool {
		return a.Kind != permissions.AccessRead && a.Kind != permissions.AccessWrite
	})
	var kept []abi.Fact
	for i, fact := range facts {
		read := paths[i]
		read.Kind = permissions.AccessRead
		if g.mayTouch(read) {
			kept = append(kept, fact)
		}
	}
	return kept
}
