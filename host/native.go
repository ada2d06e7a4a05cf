package host

import (
	"context"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
)

// NativeTool is a tool that the embedder brings, written in Go. Its calls take the
// same way as those of a plugin's tool: schema, traits, scheduler, rules, events. So
// they pass the first gate. What it does it does with the embedder's own rights; only
// what it does through [Call.Do] passes the second gate.
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
	// Server says, by a call's input, whose tool it really is, if the embedder only passes calls
	// on, as to an MCP server; nil if it is the embedder's own. With an input of nil it is asked
	// whose tool it is whatever the input. Rules are compared with what it returns. Such a tool
	// is not trusted: its check can only tighten, and its name may begin with mcp__.
	Server func(input json.RawMessage) ToolServer
}

// ToolServer is the MCP server that a tool is of, and that server's own name for the tool. The
// zero value is none.
type ToolServer = tool.Server

// Call is one call to a [NativeTool].
type Call struct {
	ID string
	// Input fits the tool's schema and is canonical JSON.
	Input json.RawMessage
	// Cwd is the session's working directory.
	Cwd string
	// Session is the id of the session, and Policy what its calls are judged by now.
	Session string
	Policy  *permissions.Policy
	// Do makes a capability call behind the session's rules, as a plugin would.
	Do func(ctx context.Context, req abi.Request) (abi.Answer, error)
	// Report tells of progress, or logs.
	Report func(abi.ProgressHead)
	// Keep writes a file into the session's own directory, whose files the session's tools may
	// read, and returns its path. The path has what of the name is safe, and its extension. It
	// fails where the session has no directory ([StorageOptions].Sessions).
	Keep func(name string, content []byte) (path string, err error)

	person capability.Person
	ends   context.Context //nolint:containedctx // with the call, whatever context a question is asked under
}

// Ask asks the person that the session works for, and waits for the answer. Waiting takes none
// of the call's slot, and ends with the call. An answer accepts ([AnswerAllow]), with the
// content that [Ask].Accept returns, or declines ([AnswerDeny]). Errors have the codes that [capability.Person] names; [ErrNobody] and [ErrDismissed] are among them. A tool
// that can do nothing without an answer says so in its contract (RequiresUser), so that it is
// not offered where nobody can be asked.
func (c *Call) Ask(ctx context.Context, q Ask) (Reply, error) {
	if c.person == nil {
		return Reply{}, unanswerable(q.AskedKind())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ends, func() { cancel(context.Cause(c.ends)) })() //nolint:contextcheck // the other one ends this
	said, err := c.person.Ask(ctx, q)
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Answer: AnswerDeny, Message: said.Message}
	if said.Accepted {
		reply = Reply{Answer: AnswerAllow, Content: said.Content}
	}
	return reply, nil
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
		return tool.ResultOf(out)
	}}
}

// Check returns why no host would take the tool, or nil.
func (n *NativeTool) Check() error {
	_, err := n.compile()
	return err
}

// compile checks the tool and returns it as the pipeline calls it.
func (n *NativeTool) compile() (*tool.Native, error) {
	functions := tool.Functions{Assess: n.Assess, Server: n.Server}
	if run := n.Run; run != nil {
		functions.Run = func(ctx context.Context, inv tool.Invocation) (abi.ToolResult, error) {
			return run(ctx, &Call{
				ID: inv.ID, Input: inv.Input, Cwd: inv.Cwd, Session: inv.Session, Policy: inv.Policy,
				Do: inv.Capability, Report: inv.Report, Keep: inv.Keep, person: inv.Person, ends: ctx,
			})
		}
	}
	return tool.NewNative(n.Contract, functions)
}
