package tool

import (
	"encoding/json"
	"math"

	"github.com/toolquay/toolquay/abi"
)

// Described is a tool whose description is a session's, which also rewrites its inputs. Its
// definition stays its author's.
type Described struct {
	Tool

	contract *abi.Tool
	brief    func() string
	rewrite  func(json.RawMessage) (json.RawMessage, error)
}

var _ Tool = (*Described)(nil)

// NewDescribed puts more behind a tool's description, where there is room for so many bytes.
// Rewrite is given inputs that fit the tool's schema, and returns canonical JSON that does.
func NewDescribed(t Tool, more func(room int) string, rewrite func(json.RawMessage) (json.RawMessage, error)) *Described {
	contract := *t.Contract()
	own := contract.Description
	contract.Description += more(math.MaxInt)
	brief := func() string { return own + more(abi.MaxSafeText-len(own)) }
	return &Described{Tool: t, contract: &contract, brief: brief, rewrite: rewrite}
}

// Contract is the tool's, with the session's description.
func (t *Described) Contract() *abi.Tool { return t.contract }

// Brief is the description for those that take no more than [abi.MaxSafeText].
func (t *Described) Brief() string { return t.brief() }

// Validate checks an input against the tool's schema, and rewrites it.
func (t *Described) Validate(input json.RawMessage) (json.RawMessage, error) {
	input, err := t.Tool.Validate(input)
	if err != nil {
		return nil, err
	}
	return t.rewrite(input)
}
