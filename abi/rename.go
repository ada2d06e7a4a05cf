package abi

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Renamed is the input of a call by one of the tool's names, with the fields called
// what the tool calls them. The input is canonical JSON, and so is the result.
func (t *Tool) Renamed(name string, input json.RawMessage) (json.RawMessage, error) {
	renames := slices.DeleteFunc(slices.Clone(t.Renames), func(r Rename) bool {
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
			return nil, Errorf(CodeInvalidInput, "%s and %s are one field; leave one out", r.From, r.To)
		}
		delete(fields, r.From)
		fields[r.To] = value
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return nil, Errorf(CodeInternal, "renaming fields: %w", err)
	}
	return Canonical(out)
}
