package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/scheduler"
)

// call is one tool call on its way through the stages, each of which adds what it found
// out. It implements [scheduler.Job].
type call struct {
	turn *openTurn
	tell *telling // nil where nobody listens
	// request is known once the call is submitted.
	request
	// files is the read state of files as the call sees it.
	files filestate.Call
	// judgement is made when the call's turn comes.
	judgement
	// execution begins when it has its slot.
	execution
	// outcome is what comes of it.
	outcome
}

// judgement is what was found out on the way to letting a call in.
type judgement struct {
	// approvals are what a person said of the call.
	approvals gate.Approvals
	// consultation is what the judge was asked about it; nil where there is none.
	consultation *gate.Consultation
	// rewrittenByPerson says that the person wrote the input, which allows it.
	rewrittenByPerson bool
	// hook is what the hooks said of the call, once they were run, and hooked that they
	// were.
	hook   *permissions.HookAnswer
	hooked bool
	// admitted is what the call may run by.
	admitted admission
}

// execution is a call that runs, and what goes on for it.
type execution struct {
	// slot is the call's right to run, and running the context it has it under; nil
	// until then.
	slot    *scheduler.Slot
	running context.Context //nolint:containedctx // for the slot's return, whoever lends it
	// work is what is under way for the call.
	work turn.Work
	// deeds are what it did, reads left out.
	deeds deeds
}

// ran reports whether the call has had its slot.
func (e *execution) ran() bool { return e.slot != nil }

// lend gives the call's slot to others while do runs, as long as the call has one.
func (e *execution) lend(do func()) {
	if e.slot == nil {
		do()
		return
	}
	e.slot.Lend(e.running, do)
}

// outcome is what came of a call, and what the model is told besides.
type outcome struct {
	// ended says that the call has its result.
	ended  bool
	result abi.ToolResult
	// fitted is what was done to the result's size; nil where it is short.
	fitted *results.Fitted
	// refused are the changes of the session that its tool asked for and did not get.
	refused []refusedChange
	// notes are what hooks want the model told, and remarks what the host has to say.
	notes   []string
	remarks remarks
}

var _ scheduler.Job = (*call)(nil)

// submit does what can be done before a call's turn comes: look-up, schema,
// traits. A call that fails here has its result.
func (t *openTurn) submit(ctx context.Context, index int, use abi.ToolUse) *call {
	c := &call{turn: t, tell: t.telling(index, &use), request: request{use: use}}
	c.consultation = t.session.consult()
	c.files.Begin(t.files, index)
	err := c.prepare(ctx)
	c.tell.event(Event{Kind: EventQueued, Input: c.input.raw()})
	if err != nil {
		c.refuse(err)
	}
	return c
}

func (c *call) prepare(ctx context.Context) error {
	if err := c.turn.claim(c.use.ID); err != nil {
		return err
	}
	found, err := c.turn.catalog().find(c.use.Name, c.turn.within == nil)
	if err != nil {
		c.unknown = true
		return err
	}
	c.tool = found
	c.tell.about(c.name(), "")
	if err := c.tool.Available(); err != nil {
		return err
	}
	written := c.use.Input
	if len(written) == 0 {
		written = json.RawMessage("{}")
	}
	if written, err = abi.Canonical(written); err != nil {
		return err
	}
	if written, err = c.tool.Contract().Renamed(c.use.Name, written); err != nil {
		return c.describe(err)
	}
	if err := c.accept(written); err != nil {
		return c.describe(c.turn.catalog().unloaded(c.tool.Contract(), err))
	}
	c.tell.about(c.name(), c.title)
	if c.traits, err = c.findTraits(ctx); err != nil || !traits.Settles(c.tool.Contract()) {
		return err
	}
	c.settle()
	return nil
}

func (c *call) session() *Session { return c.turn.session }

// Traits are what orders the call. One whose tool there is not has its result, and
// holds nobody back.
func (c *call) Traits() scheduler.Traits {
	if c.unknown {
		return scheduler.Traits{Safe: true, Locked: true}
	}
	if c.traits.Locked && c.settled != c.turn.altered.Load() {
		c.settle()
	}
	if c.tool == nil {
		return scheduler.Traits{}
	}
	return c.traits.Scheduled(c.tool.Contract(), c.tool.Source().Plugin)
}

// Admit judges the call when its turn has come.
func (c *call) Admit(ctx context.Context) bool {
	if c.ended {
		return false
	}
	growStack() // the scheduler's goroutine for this call is new
	c.tell.admitting()
	err := c.begins()
	if err == nil {
		c.comeBack()
		err = c.admit(ctx)
	}
	if err == nil {
		err = c.begins()
	}
	if err != nil {
		c.notBegun(ctx, err)
	}
	return err == nil
}

// comeBack has a tool that works in the session's directory find one: a command may have
// removed it.
func (c *call) comeBack() {
	if c.tool == nil {
		return
	}
	if _, moves := c.tool.Declares(abi.CapSessionCwd); !moves {
		return
	}
	if _, native := c.tool.(*tool.Native); native {
		return // it declares everything
	}
	if from, to, moved := c.session().rules.LeaveRemoved(); moved {
		c.remark(fmt.Sprintf("The session's directory %s is gone. The session is in %s now, and so was this call.", from, to))
	}
}

// notBegun ends the call before its tool was called, but perhaps for a rehearsal.
func (c *call) notBegun(ctx context.Context, err error) {
	failure, ok := errors.AsType[*rehearsed](err)
	switch {
	case ctx.Err() != nil:
		c.refuse(c.ending(context.Cause(ctx), false))
	case ok:
		c.end(c.postHooks(ctx, newGate(c), failure.result, nil))
	default:
		c.refuse(err)
	}
}

// begins fails where nothing more of the turn is to begin.
func (c *call) begins() error {
	if reason := c.turn.outermost().stopped.Load(); reason != nil {
		return abi.Errorf(abi.CodeCancelled, "it was not begun: %s, which ends the turn", *reason)
	}
	return nil
}

// Run calls the tool, in a slot.
func (c *call) Run(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
	g := newGate(c)
	if err := g.stands(); err != nil {
		c.refuse(err)
		return scheduler.Outcome{}
	}
	c.tell.start()
	c.slot, c.running = slot, ctx
	c.consultation.Runs(ctx)
	limited, cancel := c.limitTime(ctx)
	defer cancel()
	c.tell.clocks().Tool(true)
	result, err := c.invoke(limited, g)
	c.tell.clocks().Tool(false)
	if err != nil {
		c.letGo(result.Content)
		err = c.reason(ctx, err)
		result = failed(err)
	}
	c.end(c.postHooks(limited, g, result, err))
	return c.scheduled(ctx)
}

// reason says why a tool could not run to its end: what ended it from outside, or
// else what it says itself.
func (c *call) reason(ctx context.Context, err error) error {
	if panicked, ok := errors.AsType[*scheduler.PanicError](err); ok {
		return c.panicked(panicked)
	}
	if ctx.Err() != nil {
		return c.ending(context.Cause(ctx), true)
	}
	return err
}

// scheduled is what the scheduler is told. What was ended from outside has not failed
// by itself, and cancels none of its siblings.
func (c *call) scheduled(ctx context.Context) scheduler.Outcome {
	o := scheduler.Outcome{Failed: c.result.IsError && ctx.Err() == nil, Behind: c.work.End()}
	if o.Behind != nil {
		c.turn.behind.Store(true)
	}
	if c.turn.feed != nil {
		o.Held = heldBy(&c.result)
	}
	return o
}

// Fail ends the call with what the scheduler says of it.
func (c *call) Fail(err error) {
	if panicked, ok := errors.AsType[*scheduler.PanicError](err); ok {
		err = c.panicked(panicked)
	} else {
		err = c.ending(err, false)
	}
	c.ended = false
	c.refuse(err)
}

// panicked logs a panic, which is a defect of the host's, and says so.
func (c *call) panicked(p *scheduler.PanicError) error {
	c.session().host.options.Logger.Error("a tool call panicked", "tool", c.use.Name, "panic", p.Value, "stack", string(p.Stack))
	return abi.Errorf(abi.CodeInternal, "%s failed inside the host: %v", c.use.Name, p.Value)
}

// Settle applies the call's effects on the session. A result that is an error has them
// too where it is its tool's own: a shell has moved whether or not its last command
// failed. One that the host made for a call that could not run to its end has none.
func (c *call) Settle() {
	if c.traits.Alone() || len(c.result.Changes) > 0 {
		defer c.turn.altered.Add(1)
	}
	if !c.result.IsError {
		c.files.Settle()
	}
	c.applyChanges()
}

// Yield lets the result leave. A reader who is slow holds it back where results
// take much memory, and with it the calls that would bring more.
func (c *call) Yield() {
	t := c.turn
	c.addTasks()
	if t.within == nil { // the results of calls that a call makes do not reach the model
		t.session.learn(c.result.Content)
	}
	t.keep(c)
	if t.feed != nil {
		t.feed.Wait(t.ctx, t.session.host.options.maxHeld()/2)
	}
	if c.tell != nil {
		result := c.result
		c.tell.event(Event{Kind: EventResult, Result: &result, Elapsed: c.tell.elapsed()})
	}
}

// Drop lets go of the result, which does not leave, and tells what was done.
func (c *call) Drop() {
	c.tell.event(Event{Kind: EventDiscarded, Effects: c.effected(), Elapsed: c.tell.elapsed()})
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
	c.consultation.Cancel()
	if c.tool != nil {
		c.withhold(&r)
		r.Content = c.turn.catalog().refer(r.Content)
	}
	c.fit(&r)
	answered := len(r.Content)
	c.refuseChanges(&r)
	c.addOutdated(&r)
	c.addNotes(&r) // behind a result that was cut, too
	c.remarks.add(&r)
	c.noted(len(r.Content) - answered)
	c.result = r
	c.tell.finish(r, c.ran()) // Fail may have the last word
}

// addOutdated tells the model, after the result of a call that may have changed files,
// which of the files that it has read are out of date now.
func (c *call) addOutdated(r *abi.ToolResult) {
	if !c.ran() || c.traits.ReadOnly { // what changed during a read is not its doing
		return
	}
	if hint := c.files.OutdatedHint(); hint != "" {
		r.Content = append(slices.Clip(r.Content), abi.TextBlock(hint))
	}
}

// remark has the model told something behind the call's result, once.
func (c *call) remark(text string) { c.remarks.put(text) }

// addTasks tells the model, once, of background tasks that have ended, behind a result
// that leaves now: with one that was made and is not sent they would be lost. Results of
// calls that a call makes are no model's.
func (c *call) addTasks() {
	if c.turn.within != nil {
		return
	}
	notice := c.session().storage.Notice()
	if notice == "" {
		return
	}
	c.result.Content = append(slices.Clip(c.result.Content), abi.TextBlock(notice))
	if c.fitted != nil {
		c.fitted.Notes++
	}
}

// withhold takes out of a result what its tool has no right to: words in the
// conversation that are not a tool's.
func (c *call) withhold(r *abi.ToolResult) {
	if len(r.Messages) == 0 || c.tool.Source().Trusted {
		return
	}
	r.Messages = nil
	c.tell.warn("messages for the conversation were left out of the result: only built-in tools may add them")
}
