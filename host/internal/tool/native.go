package tool

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/plugins"
)

// ErrExited is the failure of a tool that ended its goroutine instead of returning.
var ErrExited = abi.Errorf(abi.CodeInternal, "the tool ended its goroutine instead of returning")

// Functions are what a [Native] tool does.
type Functions struct {
	// Run runs the tool. It is required.
	Run func(ctx context.Context, c Invocation) (abi.ToolResult, error)
	// Assess answers questions about an input; nil answers none.
	Assess func(ctx context.Context, input json.RawMessage, facts []abi.Fact) (abi.Assessment, error)
	// Server says whose tool it is; nil is the embedder's own.
	Server func(input json.RawMessage) Server
}

// Native is a tool of the embedder, made of functions.
type Native struct {
	contract   abi.Tool
	functions  Functions
	schema     *plugins.Schema
	output     *plugins.Schema // nil without an output schema
	definition func() [sha256.Size]byte
}

var _ Tool = (*Native)(nil)

// NewNative makes a tool. It fails where there is nothing to run, or the contract is one
// that no manifest may have.
func NewNative(contract abi.Tool, f Functions) (*Native, error) {
	if f.Run == nil {
		return nil, fmt.Errorf("the native tool %q has no Run function", contract.Name)
	}
	if err := check(contract, f.Server != nil); err != nil {
		return nil, fmt.Errorf("the native tool %q: %w", contract.Name, err)
	}
	schema, err := plugins.CompileSchema(contract.Name, contract.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("the native tool %q: %w", contract.Name, err)
	}
	t := &Native{contract: contract, functions: f, schema: schema}
	if contract.OutputSchema != "" {
		if t.output, err = plugins.CompileOutputSchema(contract.Name, contract.OutputSchema); err != nil {
			return nil, fmt.Errorf("the native tool %q: the output schema: %w", contract.Name, err)
		}
	}
	t.definition = sync.OnceValue(func() [sha256.Size]byte {
		text, _ := json.Marshal(&t.contract) // plain data: it cannot fail
		return sha256.Sum256(text)
	})
	return t, nil
}

// check holds a contract to what a manifest may say. Only a server's tool may begin with mcp__.
func check(contract abi.Tool, server bool) error {
	if server {
		if rest, ok := strings.CutPrefix(contract.Name, "mcp__"); ok {
			contract.Name = "mcp--" + rest
		}
	}
	m := abi.Manifest{Manifest: abi.ManifestVersion, Name: "native", Version: "0.0.0", Tools: []abi.Tool{contract}}
	var faults []error
	for _, f := range m.Validate() {
		faults = append(faults, fmt.Errorf("%s: %s", f.Path, f.Message))
	}
	return errors.Join(faults...)
}

// Contract is what a plugin's manifest would say of the tool.
func (t *Native) Contract() *abi.Tool { return &t.contract }

// Definition is the hash of the contract, made when it is first asked for.
func (t *Native) Definition() [sha256.Size]byte { return t.definition() }

// Source says that the tool is trusted, unless it is a server's.
func (t *Native) Source() Source { return Source{Trusted: t.functions.Server == nil} }

// Server is whose tool it is.
func (t *Native) Server(input json.RawMessage) Server {
	if t.functions.Server == nil {
		return Server{}
	}
	return t.functions.Server(input)
}

// Available returns nil.
func (t *Native) Available() error { return nil }

// Declares returns true: the rules say what an embedder's own tool may ask for.
func (t *Native) Declares(capability string) (abi.CapabilityClaim, bool) {
	return abi.CapabilityClaim{Name: capability}, true
}

// Validate checks an input against the tool's schema. Servers meet models that send null for what
// they leave out, as clients in the field pass that on: what may not be null is left out then.
func (t *Native) Validate(input json.RawMessage) (json.RawMessage, error) {
	return t.schema.Accept(input, t.contract.Strict || t.functions.Server != nil)
}

// AcceptOutput holds structured content to the tool's output schema, if it has one. Go programs
// write JSON in any form.
func (t *Native) AcceptOutput(structured json.RawMessage) (json.RawMessage, error) {
	if t.output == nil {
		return structured, nil
	}
	canonical, err := abi.Canonical(structured)
	if err != nil {
		return nil, err
	}
	return t.output.AcceptOutput(canonical)
}

// Assess answers a question about an input. It returns when ctx ends, whatever the tool
// does: assessing has no effects.
func (t *Native) Assess(ctx context.Context, q plugins.Question) (abi.Assessment, error) {
	if t.functions.Assess == nil {
		return abi.Assessment{}, nil
	}
	came := make(chan struct{})
	answer, failed := abi.Assessment{}, error(ErrExited)
	go func() {
		defer close(came)
		defer t.recoverInto(&failed)
		answer, failed = t.functions.Assess(ctx, q.Input, q.Facts)
	}()
	select {
	case <-came:
		return answer, failed
	case <-ctx.Done():
		return abi.Assessment{}, gate.Cancelled(ctx)
	}
}

// Call runs the tool. An error of the tool's becomes a result with its code.
func (t *Native) Call(ctx context.Context, inv Invocation) (r abi.ToolResult, err error) {
	defer t.recoverInto(&err)
	r, err = t.functions.Run(ctx, inv)
	var known *abi.Error
	switch {
	case err == nil:
		r.ToolUseID = inv.ID
		return r, nil
	case ctx.Err() != nil:
		return r, gate.Cancelled(ctx)
	case !errors.As(err, &known):
		known = &abi.Error{Code: abi.CodeInternal, Message: err.Error(), Err: err}
	}
	return abi.ErrorResult(inv.ID, known), nil
}

func (t *Native) recoverInto(err *error) {
	if r := recover(); r != nil {
		*err = abi.Errorf(abi.CodeInternal, "the native tool %s panicked: %v", t.contract.Name, r)
	}
}
