package pipeline

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/permissions"
)

// accesses finds out what a call's own input says it will touch, with each path
// resolved as the file system now has it, and what is known of those paths.
func (c *core) accesses(v *rules.View) ([]permissions.Access, []abi.Fact, error) {
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

func (c *core) resolvePath(cwd string, field abi.Field, path string) (permissions.Access, abi.Fact, error) {
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
