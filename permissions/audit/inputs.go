package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// Inputs says how much of a call's input is logged with the decision about the call.
type Inputs uint8

const (
	// InputsHash logs none of it: the binding of a decision has its hash.
	InputsHash Inputs = iota
	// InputsRedacted keeps the names of fields, numbers and booleans. A string becomes its
	// length and the first half of its SHA-256, so that a short one can be guessed.
	InputsRedacted
	// InputsFull logs it whole, up to 32 KiB; a larger one is redacted.
	InputsFull
)

var inputsNames = []string{"hash", "redacted", "full"}

// ParseInputs reads a name as settings have it.
func ParseInputs(name string) (Inputs, error) {
	for i, known := range inputsNames {
		if name == known {
			return Inputs(i), nil
		}
	}
	return 0, fmt.Errorf("%.40q is not hash, redacted or full", name)
}

// String is the name.
func (i Inputs) String() string {
	if int(i) < len(inputsNames) {
		return inputsNames[i]
	}
	return fmt.Sprintf("Inputs(%d)", uint8(i))
}

// MarshalText writes the name.
func (i Inputs) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads a name.
func (i *Inputs) UnmarshalText(text []byte) (err error) {
	*i, err = ParseInputs(string(text))
	return err
}

// maxInput is the most that is kept of an input, in bytes of the line.
const maxInput = 32 << 10

// Of is what is logged of an input, and how: less than i where the input is over the bound.
// One that is no JSON is not logged.
func (i Inputs) Of(input json.RawMessage) (json.RawMessage, Inputs) {
	if i >= InputsFull {
		if kept, ok := fit(input); ok {
			return kept, InputsFull
		}
	}
	if i >= InputsRedacted {
		if kept, ok := redact(input); ok {
			return kept, InputsRedacted
		}
	}
	return nil, InputsHash
}

// bounded is what a line keeps of an input that was logged so.
func bounded(input json.RawMessage, as Inputs) (json.RawMessage, Inputs) {
	if kept, ok := fit(input); ok {
		return kept, as
	}
	return InputsRedacted.Of(input)
}

// fit is an input as a line has it, if it is not over the bound.
func fit(input json.RawMessage) (json.RawMessage, bool) {
	if len(input) > maxInput {
		return nil, false
	}
	kept, err := json.Marshal(input) // escaped as it is in the line
	return kept, err == nil && len(kept) <= maxInput
}

func redact(input json.RawMessage) (json.RawMessage, bool) {
	var value any
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, false
	}
	kept, err := json.Marshal(redacted(value))
	return kept, err == nil && len(kept) <= maxInput
}

func redacted(value any) any {
	switch v := value.(type) {
	case string:
		return redactedText(v)
	case []any:
		for i := range v {
			v[i] = redacted(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = redacted(v[key])
		}
	}
	return value
}

func redactedText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("[redacted: %d bytes, sha256 %x]", len(text), sum[:len(sum)/2])
}
