package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/scheduler"
)

// Call is one tool call on its way through the stages, each of which adds what it found
// out. It implements [scheduler.Job].
type Call struct {
	turn Turn
	tell Teller
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

// Lend gives the call's slot to others while do runs, as long as the call has one.
func (e *execution) Lend(do func()) { e.lend(do) }

// Work is what is under way for the call.
func (e *execution) Work() *turn.Work { return &e.work }

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

var _ scheduler.Job = (*Call)(nil)

// Submit makes a call, and does what can be done before a call's turn comes: look-up, schema,
// traits. A call that fails here has its result.
func Submit(ctx context.Context, t Turn, index int, use abi.ToolUse) *Call {
	c := &Call{turn: t, tell: t.Telling(index, &use), request: request{use: use}}
	c.consultation = gate.NewConsultation(t.Session().Judge)
	c.files.Begin(t.Files(), index)
	err := c.prepare(ctx)
	c.tell.Queued(c.input.raw())
	if err != nil {
		c.refuse(err)
	}
	return c
}

func (c *Call) prepare(ctx context.Context) error {
	if err := c.turn.Claim(c.use.ID); err != nil {
		return err
	}
	found, err := c.turn.Catalog().Find(c.use.Name, c.turn.Within() == nil)
	if err != nil {
		c.unknown = true
		return err
	}
	c.tool = found
	c.tell.About(c.name(), "")
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
		return c.describe(c.turn.Catalog().Unloaded(c.tool.Contract(), err))
	}
	c.tell.About(c.name(), c.title)
	if c.traits, err = c.findTraits(ctx); err != nil || !traits.Settles(c.tool.Contract()) {
		return err
	}
	c.settle()
	return nil
}

func (c *Call) session() *Session { return c.turn.Session() }

// Turn is the turn that the call belongs to.
func (c *Call) Turn() Turn { return c.turn }

// Inner is the read state of files for the calls that this one makes.
func (c *Call) Inner() *filestate.Turn { return c.files.Inner() }

// Teller takes what the call tells.
func (c *Call) Teller() Teller { return c.tell }

// Traits are what orders the call. One whose tool there is not has its result, and
// holds nobody back.
func (c *Call) Traits() scheduler.Traits {
	if c.unknown {
		return scheduler.Traits{Safe: true, Locked: true}
	}
	if c.traits.Locked && c.settled != c.turn.Altered().Load() {
		c.settle()
	}
	if c.tool == nil {
		return scheduler.Traits{}
	}
	return c.traits.Scheduled(c.tool.Contract(), c.tool.Source().Plugin)
}

// Admit judges the call when its turn has come.
func (c *Call) Admit(ctx context.Context) bool {
	if c.ended {
		return false
	}
	GrowStack() // the scheduler's goroutine for this call is new
	c.tell.Clocks().Queued()
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
func (c *Call) comeBack() {
	if c.tool == nil {
		return
	}
	if _, moves := c.tool.Declares(abi.CapSessionCwd); !moves {
		return
	}
	if _, native := c.tool.(*tool.Native); native {
		return // it declares everything
	}
	if from, to, moved := c.session().Rules.LeaveRemoved(); moved {
		c.remark(fmt.Sprintf("The session's directory %s is gone. The session is in %s now, and so was this call.", from, to))
	}
}

// notBegun ends the call before its tool was called, but perhaps for a rehearsal.
func (c *Call) notBegun(ctx context.Context, err error) {
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
func (c *Call) begins() error {
	if reason := c.turn.Stopped(); reason != nil {
		return abi.Errorf(abi.CodeCancelled, "it was not begun: %s, which ends the turn", *reason)
	}
	return nil
}

// Run calls the tool, in a slot.
func (c *Call) Run(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
	g := newGate(c)
	if err := g.stands(); err != nil {
		c.refuse(err)
		return scheduler.Outcome{}
	}
	c.tell.Started()
	c.slot, c.running = slot, ctx
	c.consultation.Runs(ctx)
	limited, cancel := c.limitTime(ctx)
	defer cancel()
	c.tell.Clocks().Tool(true)
	result, err := c.invoke(limited, g)
	c.tell.Clocks().Tool(false)
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
func (c *Call) reason(ctx context.Context, err error) error {
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
func (c *Call) scheduled(ctx context.Context) scheduler.Outcome {
	o := scheduler.Outcome{Failed: c.result.IsError && ctx.Err() == nil, Behind: c.work.End()}
	if o.Behind != nil {
		c.turn.LeftBehind()
	}
	if c.turn.Holds() {
		o.Held = HeldBy(&c.result)
	}
	return o
}

// Fail ends the call with what the scheduler says of it.
func (c *Call) Fail(err error) {
	if panicked, ok := errors.AsType[*scheduler.PanicError](err); ok {
		err = c.panicked(panicked)
	} else {
		err = c.ending(err, false)
	}
	c.ended = false
	c.refuse(err)
}

// panicked logs a panic, which is a defect of the host's, and says so.
func (c *Call) panicked(p *scheduler.PanicError) error {
	c.session().Host.Logger.Error("a tool call panicked", "tool", c.use.Name, "panic", p.Value, "stack", string(p.Stack))
	return abi.Errorf(abi.CodeInternal, "%s failed inside the host: %v", c.use.Name, p.Value)
}

// Settle applies the call's effects on the session. A result that is an error has them
// too where it is its tool's own: a shell has moved whether or not its last command
// failed. One that the host made for a call that could not run to its end has none.
func (c *Call) Settle() {
	if c.traits.Alone() || len(c.result.Changes) > 0 {
		defer c.turn.Altered().Add(1)
	}
	if !c.result.IsError {
		c.files.Settle()
	}
	c.applyChanges()
}

// Yield lets the result leave. A reader who is slow holds it back where results
// take much memory, and with it the calls that would bring more.
func (c *Call) Yield() {
	c.addTasks()
	c.turn.Leave(c)
}

// Drop lets go of the result, which does not leave, and tells what was done.
func (c *Call) Drop() {
	c.tell.Discarded(c.effected())
}
