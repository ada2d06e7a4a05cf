package lines

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// request makes of a call what is judged, by what is known of the tools that
// agents of this field have. The input is a JSON object.
func request(name string, input json.RawMessage, at host.CommandPlace) (permissions.Request, error) {
	r := permissions.Request{Tool: name, Input: input, Effects: permissions.EffectsUnknown}
	if name == readsServers {
		var in struct{ Server string }
		if err := json.Unmarshal(input, &in); err != nil || in.Server == "" {
			return r, errors.New("input.server is missing")
		}
		r.Origin.Server = in.Server
		return r, nil
	}
	tool, ok := knownTools[name]
	if !ok {
		return r, nil
	}
	r.Effects, r.Origin.Builtin = permissions.EffectsListed, true
	if tool.within {
		r.Accesses = []permissions.Access{{Kind: permissions.AccessSession, Target: partOf(name, input)}}
		return r, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(input, &values); err != nil {
		return r, errors.New("input: not a JSON object")
	}
	for _, field := range tool.fields {
		if err := touch(&r, field, values, at); err != nil {
			return r, err
		}
	}
	return r, nil
}

// touch adds what one field of the input names.
func touch(r *permissions.Request, field abi.Field, input map[string]json.RawMessage, at host.CommandPlace) error {
	value := field.Default
	if raw, ok := input[field.Name]; ok {
		if err := json.Unmarshal(raw, &value); err != nil {
			return fmt.Errorf("input.%s: not a string", field.Name)
		}
	}
	if value == "" {
		return fmt.Errorf("input.%s is missing", field.Name)
	}
	switch field.Kind {
	case abi.FieldPath:
		r.Accesses = append(r.Accesses, pathAccess(field, value, at.Cwd, trees[r.Tool]))
	case abi.FieldHost:
		r.Accesses = append(r.Accesses, permissions.Access{Kind: permissions.AccessNet, Target: value})
	case abi.FieldCommand:
		command := host.AnalyseCommand(shells[r.Tool], value, at)
		if raw, ok := input[escapes]; ok {
			command.Unsandboxed = string(raw) != "false" && string(raw) != "null"
		}
		command.Resolve(func(path string) string { return path })
		r.Commands = append(r.Commands, command)
		r.Accesses = append(r.Accesses, command.Accesses()...)
	}
	return nil
}

func pathAccess(field abi.Field, name, cwd string, tree bool) permissions.Access {
	if !strings.HasPrefix(name, "/") {
		name = cwd + "/" + name
	}
	name = path.Clean(name)
	kind := permissions.AccessRead
	if field.Effect == "write" {
		kind = permissions.AccessWrite
	}
	return permissions.Access{Kind: kind, Target: name, Real: name, Tree: tree}
}
