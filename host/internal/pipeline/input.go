package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// input is a call's input: the canonical JSON, which is decoded at most once.
type input struct {
	json json.RawMessage

	once    sync.Once
	decoded map[string]json.RawMessage
	err     error
}

func newInput(canonical json.RawMessage) *input { return &input{json: canonical} }

// fields are the input's, decoded.
func (i *input) fields() (map[string]json.RawMessage, error) {
	i.once.Do(func() { i.err = json.Unmarshal(i.json, &i.decoded) })
	return i.decoded, i.err
}

// raw is the input's JSON; nil before there is any.
func (i *input) raw() json.RawMessage {
	if i == nil {
		return nil
	}
	return i.json
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
