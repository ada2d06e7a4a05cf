package host

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/toolquay/toolquay/abi"
)

// renamed is the input of a call by one of its tool's names, with the fields called
// what the tool calls them.
func renamed(renames []abi.Rename, name string, input json.RawMessage) (json.RawMessage, error) {
	renames = slices.DeleteFunc(slices.Clone(renames), func(r abi.Rename) bool {
		return r.Alias != name || !bytes.Contains(input, []byte(r.From))
	})
	if len(renames) == 0 {
		return input, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil {
		return input, nil //nolint:nilerr // the schema says so better
	}
	for _, r := range renames {
		value, ok := fields[r.From]
		if !ok {
			continue
		}
		if _, both := fields[r.To]; both {
			return nil, abi.Errorf(abi.CodeInvalidInput, "%s and %s are one field; leave one out", r.From, r.To)
		}
		delete(fields, r.From)
		fields[r.To] = value
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInternal, "renaming fields: %w", err)
	}
	return abi.Canonical(out)
}
