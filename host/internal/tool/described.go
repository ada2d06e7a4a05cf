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
	calls    Calls
}

// Calls is what the session's tool makes of an input: of one that fits the tool's schema.
type Calls struct {
	// Rewrite returns canonical JSON that fits the schema, too.
	Rewrite func(json.RawMessage) (json.RawMessage, error)
	// Server is the MCP server that a rewritten input has a call pass on to, whose rules bind it too.
	Server func(json.RawMessage) Server
}

var _ Tool = (*Described)(nil)

// NewDescribed puts more behind a tool's description, where there is room for so many bytes.
func NewDescribed(t Tool, more func(room int) string, calls Calls) *Described {
	contract := *t.Contract()
	own := contract.Description
	contract.Description += more(math.MaxInt)
	brief := func() string { return own + more(abi.MaxSafeText-len(own)) }
	return &Described{Tool: t, contract: &contract, brief: brief, calls: calls}
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
	return t.calls.Rewrite(input)
}

// Server is that of the input; none where that is nil.
func (t *Described) Server(input json.RawMessage) Server {
	if input == nil {
		return Server{}
	}
	return t.calls.Server(input)
}
