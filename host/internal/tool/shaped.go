package tool

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// Shaped is a tool whose input schema is a session's, and not its author's.
type Shaped struct {
	Tool

	contract   *abi.Tool
	schema     *plugins.Schema
	definition func() [sha256.Size]byte
}

var _ Tool = (*Shaped)(nil)

// NewShaped gives a tool another input schema; schema is what text was compiled to.
func NewShaped(t Tool, text string, schema *plugins.Schema) *Shaped {
	contract := *t.Contract()
	contract.InputSchema, contract.InputExamples = text, nil
	return &Shaped{Tool: t, contract: &contract, schema: schema, definition: sync.OnceValue(func() [sha256.Size]byte {
		text, _ := json.Marshal(&contract) // plain data: it cannot fail
		return sha256.Sum256(text)
	})}
}

// Contract is the tool's, with the session's schema.
func (t *Shaped) Contract() *abi.Tool { return t.contract }

// Definition is the hash of that contract.
func (t *Shaped) Definition() [sha256.Size]byte { return t.definition() }

// Validate checks an input against the session's schema.
func (t *Shaped) Validate(input json.RawMessage) (json.RawMessage, error) {
	return t.schema.Accept(input, t.contract.Strict)
}
