package host

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/plugins"
)

// NativeTool is a tool that the embedder brings, written in Go. It takes the
// same way as a plugin's: schema, traits, scheduler, rules, events. What it
// does it does with the embedder's own rights; only what it does through
// [Call.Do] passes the second gate.
type NativeTool struct {
	// Contract is what a plugin's manifest would say of the tool. Name and
	// InputSchema are required. Naming Fields says that their paths, commands
	// and hosts are everything the tool touches; a tool that names none and is
	// not read-only asks before it starts.
	Contract abi.Tool
	// Run runs the tool. It should return soon after ctx is done: the call does not
	// wait for it, but what it locked, or the calls after it, do for five seconds. An
	// *abi.Error becomes a result that carries its code.
	//
	// Under ctx, [Session.Run] and its like make calls that are part of this one: they
	// do not wait for the session's turn, take no slot beside this one's, and may do
	// no more than this one was scheduled to do. Contract.Locks says what that is.
	Run func(ctx context.Context, c *Call) (abi.ToolResult, error)
	// Assess answers questions about an input (see abi.Assessment); nil answers
	// none.
	Assess func(ctx context.Context, input json.RawMessage, facts []abi.Fact) (abi.Assessment, error)
}

// Call is one call to a [NativeTool].
type Call struct {
	ID string
	// Input fits the tool's schema and is canonical JSON.
	Input json.RawMessage
	// Cwd is the session's working directory.
	Cwd string
	// Do makes a capability call behind the session's rules, as a plugin would.
	Do func(ctx context.Context, req abi.Request) (abi.Answer, error)
	// Report tells of progress, or logs.
	Report func(abi.ProgressHead)
}

// NewTool makes a native tool of a function. The input is decoded into In, as
// encoding/json does; what the function returns becomes the result: a string as
// text, an [abi.ToolResult] as it is, anything else as JSON, both as text and
// structured.
func NewTool[In, Out any](contract abi.Tool, run func(ctx context.Context, in In) (Out, error)) NativeTool {
	return NativeTool{Contract: contract, Run: func(ctx context.Context, c *Call) (abi.ToolResult, error) {
		var in In
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return abi.ToolResult{}, abi.Errorf(abi.CodeInvalidInput, "the input of %s: %w", contract.Name, err)
		}
		out, err := run(ctx, in)
		if err != nil {
			return abi.ToolResult{}, err
		}
		return resultOf(out)
	}}
}

func resultOf(out any) (abi.ToolResult, error) {
	switch out := out.(type) {
	case abi.ToolResult:
		return out, nil
	case string:
		return abi.ToolResult{Content: []abi.Block{abi.TextBlock(out)}}, nil
	}
	b, err := encodeJSON(out)
	if err != nil {
		return abi.ToolResult{}, abi.Errorf(abi.CodeInternal, "encoding the result: %w", err)
	}
	return abi.ToolResult{Content: []abi.Block{abi.TextBlock(string(b))}, Structured: b}, nil
}

// nativeTool is a checked NativeTool.
type nativeTool struct {
	NativeTool
	schema *plugins.Schema
	hash   func() [sha256.Size]byte
}

func newNativeTool(n NativeTool) (*nativeTool, error) {
	if n.Run == nil {
		return nil, fmt.Errorf("the native tool %q has no Run function", n.Contract.Name)
	}
	m := abi.Manifest{Manifest: abi.ManifestVersion, Name: "native", Version: "0.0.0", Tools: []abi.Tool{n.Contract}}
	var faults []error
	for _, f := range m.Validate() {
		faults = append(faults, fmt.Errorf("%s: %s", f.Path, f.Message))
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("the native tool %q: %w", n.Contract.Name, errors.Join(faults...))
	}
	schema, err := plugins.CompileSchema(n.Contract.Name, n.Contract.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("the native tool %q: %w", n.Contract.Name, err)
	}
	t := &nativeTool{NativeTool: n, schema: schema}
	t.hash = definitionOf(&t.Contract)
	return t, nil
}

func (t *nativeTool) contract() *abi.Tool { return &t.Contract }

func (t *nativeTool) definition() [sha256.Size]byte { return t.hash() }

func (t *nativeTool) source() source { return source{trusted: true} }

func (t *nativeTool) available() error { return nil }

func (t *nativeTool) validate(input json.RawMessage) (json.RawMessage, error) {
	return t.schema.Accept(input, t.Contract.Strict)
}

func (t *nativeTool) assess(ctx context.Context, q plugins.Question) (abi.Assessment, error) {
	if t.Assess == nil {
		return abi.Assessment{}, nil
	}
	came := make(chan struct{})
	answer, failed := abi.Assessment{}, error(errToolExited)
	go func() {
		defer close(came)
		defer recoverInto(&failed, t.Contract.Name)
		answer, failed = t.Assess(ctx, q.Input, q.Facts)
	}()
	select {
	case <-came:
		return answer, failed
	case <-ctx.Done(): // it has no effects, so nobody waits for it
		return abi.Assessment{}, gate.Cancelled(ctx)
	}
}

func (t *nativeTool) call(ctx context.Context, inv plugins.Invocation) (r abi.ToolResult, err error) {
	defer recoverInto(&err, t.Contract.Name)
	r, err = t.Run(ctx, &Call{ID: inv.ID, Input: inv.Input, Cwd: inv.Cwd, Do: inv.Capability, Report: inv.Report})
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
	// The tool's own word, as a plugin's would be.
	return abi.ErrorResult(inv.ID, known), nil
}

func recoverInto(err *error, name string) {
	if r := recover(); r != nil {
		*err = abi.Errorf(abi.CodeInternal, "the native tool %s panicked: %v", name, r)
	}
}

// declares says yes: what an embedder's own tool may ask for is for the rules.
func (t *nativeTool) declares(capability string) (abi.CapabilityClaim, bool) {
	return abi.CapabilityClaim{Name: capability}, true
}
