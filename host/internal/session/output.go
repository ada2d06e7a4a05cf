package session

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/plugins"
)

// Output is the structured output that a session is begun for. It is safe for concurrent use.
type Output struct {
	text   string
	schema *plugins.Schema

	mu   sync.Mutex
	last json.RawMessage
}

var _ capability.Output = (*Output)(nil)

// outputTool is whose input the output is.
const outputTool = "StructuredOutput"

// NewOutput compiles the schema of an output, see [plugins.CompileForm].
func NewOutput(schema json.RawMessage) (*Output, error) {
	compiled, err := plugins.CompileForm(outputTool, string(schema))
	if err != nil {
		return nil, err
	}
	return &Output{text: string(schema), schema: compiled}, nil
}

// Put implements [capability.Output].
func (o *Output) Put(output json.RawMessage) (replaced bool, err error) {
	if err := o.schema.Validate(output); err != nil {
		return false, abi.Errorf(abi.CodeOf(err), "the output does not fit: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	replaced = o.last != nil
	o.last = slices.Clone(output)
	return replaced, nil
}

// Last is the last output; nil before there is one.
func (o *Output) Last() json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.last)
}
