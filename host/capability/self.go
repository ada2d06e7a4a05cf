package capability

import (
	"context"
	"encoding/json"
)

// Output takes the structured output that a session was begun for. It is safe for concurrent
// use.
type Output interface {
	// Put keeps an output, which must be canonical JSON, and reports whether it takes the place
	// of an earlier one. An output that does not fit is an error of abi.CodeInvalidInput that
	// names each place.
	Put(output json.RawMessage) (replaced bool, err error)
}

// Settings are what calls may read and set of a host's settings. They are safe for concurrent
// use. Errors have the codes [abi.CodeNotFound] for a name that no setting has,
// [abi.CodeDisabled] for one that is closed or fixed, [abi.CodeInvalidInput] for a value and
// [abi.CodeIO] where the file could not be written.
type Settings interface {
	// File is what Set writes to: absolute.
	File() string
	// Get returns a setting as it counts now.
	Get(name string) (Setting, error)
	// Check returns why a setting cannot be set to a value, or nil, without doing it.
	Check(name string, value json.RawMessage) error
	// Set sets a setting, and returns how it counted before and does now.
	Set(ctx context.Context, name string, value json.RawMessage) (before, now Setting, err error)
}

// Setting is one setting as it counts.
type Setting struct {
	// Value is a JSON string, boolean or number; nil where nobody made it.
	Value json.RawMessage
	// Source says, for people, where it was made; empty where nobody did.
	Source string
}
