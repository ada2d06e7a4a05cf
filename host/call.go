package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/judge"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// call is one tool call on its way through the stages. It implements
// [scheduler.Job].
type call struct {
	turn  *turn
	index int
	use   abi.ToolUse

	tool   tool
	input  json.RawMessage // canonical
	traits traits
	title  string

	// queued and started, which is after so many nanoseconds, are for events.
	queued  time.Time
	started atomic.Int64

	// approved are the accesses a person allowed this call, once.
	approved lease
	// rewrittenByPerson says that the person wrote the input, which allows it.
	rewrittenByPerson bool
	// hook is what the hooks said of the call, once they were run, and notes are
	// what they want the model told.
	hook   *permissions.HookAnswer
	hooked bool
	notes  []string
	// pending is what the judge thinks about.
	pending *judge.Pending

	ended  bool
	result abi.ToolResult
}

var _ scheduler.Job = (*call)(nil)

// submit does what can be done before a call's turn comes: look-up, schema,
// traits. A call that fails here has its result.
func (t *turn) submit(ctx context.Context, index int, use abi.ToolUse) *call {
	c := &call{turn: t, index: index, use: use}
	if t.feed != nil {
		c.queued = time.Now()
	}
	err := c.prepare(ctx)
	c.event(Event{Kind: EventQueued, Input: c.input})
	if err != nil {
		c.refuse(err)
	}
	return c
}

func (c *call) prepare(ctx context.Context) error {
	if err := c.turn.claim(c.use.ID); err != nil {
		return err
	}
	found, err := c.session().host.lookup(c.turn.plugins, c.use.Name)
	if err != nil {
		return err
	}
	c.tool = found
	if err := c.tool.available(); err != nil {
		return err
	}
	input := c.use.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	if c.input, err = abi.Canonical(input); err != nil {
		c.input = nil
		return err
	}
	if err := c.tool.validate(c.input); err != nil {
		return c.describe(err)
	}
	c.title = titleOf(c.tool.contract(), c.input)
	if c.traits, err = c.findTraits(ctx); err != nil || !derives(c.tool.contract()) {
		return err
	}
	if m, _, err := newGate(c).matter(); err == nil { // else it fails when its turn comes
		c.settleTraits(m)
	}
	return nil
}

// describe puts the tool's name before what is wrong with its input.
func (c *call) describe(err error) error {
	return abi.Errorf(abi.CodeOf(err), "%s: %w", c.tool.contract().Name, err)
}

func (c *call) session() *Session { return c.turn.session }

// Safe reports whether the call may run beside other safe ones.
func (c *call) Safe() bool { return c.traits.concurrencySafe }

// Admit judges the call when its turn has come.
func (c *call) Admit(ctx context.Context) bool {
	if c.ended {
		return false
	}
	growStack() // the scheduler's goroutine for this call is new
	err := c.begins()
	if err == nil {
		err = c.admit(ctx)
	}
	if err == nil {
		err = c.begins()
	}
	if err != nil {
		c.refuse(err)
	}
	return err == nil
}

// begins fails where nothing more of the turn is to begin.
func (c *call) begins() error {
	if reason := c.turn.stopped.Load(); reason != nil {
		return abi.Errorf(abi.CodeCancelled, "it was not begun: %s, which ends the turn", *reason)
	}
	return nil
}

// Run calls the tool, in a slot.
func (c *call) Run(ctx context.Context) {
	waited := c.elapsed()
	c.event(Event{Kind: EventStarted, Elapsed: waited})
	c.started.Store(int64(waited))
	ctx, cancel := c.limitTime(ctx)
	defer cancel()
	g := newGate(c)
	result, err := c.tool.call(ctx, plugins.Invocation{
		ID:         c.use.ID,
		Input:      c.input,
		Cwd:        g.view.cwd,
		Session:    &c.session().kept,
		Capability: g.do,
		Report:     c.report,
	})
	if err != nil {
		result = failed(err)
	}
	c.end(c.postHooks(ctx, g.view, result, err))
}

// errCallTime is the cause of a call that ran into the operator's time limit.
var errCallTime = errors.New("the operator's limit on a call's time")

func (c *call) limitTime(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := c.session().host.options.CallTimeout
	if limit <= 0 {
		return ctx, func() {}
	}
	cause := &abi.Error{Code: abi.CodeTimeout, Err: errCallTime,
		Message: "the call ran longer than the " + limit.String() + " that the operator allows a call"}
	return context.WithTimeoutCause(ctx, limit, cause)
}

// Fail ends the call with what the scheduler says of it.
func (c *call) Fail(err error) {
	if panicked, ok := errors.AsType[*scheduler.PanicError](err); ok {
		c.session().host.options.Logger.Error("a tool call panicked", "tool", c.use.Name, "panic", panicked.Value, "stack", string(panicked.Stack))
		err = abi.Errorf(abi.CodeInternal, "%s failed inside the host: %v", c.use.Name, panicked.Value)
	} else {
		err = abi.Errorf(abi.CodeCancelled, "%s was cancelled before it ended: %w", c.use.Name, err)
	}
	c.ended = false
	c.refuse(err)
}

// Settle applies the call's effects on the session.
func (c *call) Settle() {
	if c.result.IsError {
		return
	}
	for i := range c.result.Changes {
		change := c.result.Changes[i]
		if err := c.session().apply(c, change); err != nil {
			c.event(Event{Kind: EventChanged, Change: &change, Err: err})
			continue
		}
		c.event(Event{Kind: EventChanged, Change: &change})
	}
}

// Yield lets the result leave.
func (c *call) Yield() {
	if c.turn.feed == nil {
		c.turn.results = append(c.turn.results, c.result)
		return
	}
	result := c.result
	c.event(Event{Kind: EventResult, Result: &result, Elapsed: c.elapsed()})
}

// refuse ends the call with an error of the pipeline's, for the model.
func (c *call) refuse(err error) { c.end(failed(err)) }

// failed is the result of a call that could not run to its end.
func failed(err error) abi.ToolResult {
	var known *abi.Error
	if !errors.As(err, &known) {
		known = &abi.Error{Code: abi.CodeInternal, Message: err.Error(), Err: err}
	}
	// The message is the whole chain's; the code is the nearest one's.
	text := strings.ReplaceAll(err.Error(), "</tool_use_error", `<\/tool_use_error`)
	return abi.ToolResult{
		Content: []abi.Block{abi.TextBlock("<tool_use_error>" + text + "</tool_use_error>")},
		IsError: true,
		Error:   &abi.Error{Code: known.Code, Message: err.Error(), Err: err},
	}
}

// end gives the call its one result. The first one stands.
func (c *call) end(r abi.ToolResult) {
	if c.ended {
		return
	}
	c.ended = true
	r.ToolUseID = c.use.ID
	c.unthink()
	if c.tool != nil {
		c.withhold(&r)
		fit(&r, c.tool)
	}
	c.addNotes(&r) // behind a result that was cut, too
	c.result = r
	if c.turn.feed != nil {
		told := r // Fail may have the last word
		c.event(Event{Kind: EventFinished, Elapsed: c.elapsed(), Result: &told})
	}
}

// withhold takes out of a result what its tool has no right to: words in the
// conversation that are not a tool's.
func (c *call) withhold(r *abi.ToolResult) {
	if len(r.Messages) == 0 || c.tool.source().trusted {
		return
	}
	r.Messages = nil
	c.report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: "messages for the conversation were left out of the result: only built-in tools may add them"}})
}

// elapsed is the time since the call started, or before that since it was queued;
// zero where there are no events to tell it.
func (c *call) elapsed() time.Duration {
	if c.turn.feed == nil {
		return 0
	}
	return time.Since(c.queued) - time.Duration(c.started.Load())
}

// report passes on what the tool tells of its progress.
func (c *call) report(p abi.ProgressHead) {
	if p.Progress != nil {
		c.event(Event{Kind: EventProgress, Progress: p.Progress, Elapsed: c.elapsed()})
	}
	if p.Log != nil {
		c.event(Event{Kind: EventLog, Log: p.Log, Elapsed: c.elapsed()})
	}
}

func (c *call) event(e Event) {
	if c.turn.feed == nil {
		return
	}
	e.Time, e.Index, e.CallID, e.Tool, e.Title = time.Now(), c.index, c.use.ID, c.use.Name, c.title
	if c.tool != nil {
		e.Tool = c.tool.contract().Name
	}
	c.turn.feed.put(e)
}
