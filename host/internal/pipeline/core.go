package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"weak"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/display"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/scheduler"
)

// core is what every stage of a call sees: each adds what it found out.
type core struct {
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
	// resolved is what the call touches, as it was found out for the scheduler. It is weak
	// because thousands of calls may wait, and what they touch is resolved again then.
	resolved weak.Pointer[resolution]
	// approvals are what a person said of the call.
	approvals gate.Approvals
	// consultation is what the judge was asked about it; nil where there is none.
	consultation *gate.Consultation
	// rewrittenByPerson says that the person wrote the input, which allows it.
	rewrittenByPerson bool
	// userModified says so for good, whatever came of that input.
	userModified bool
	// hook is what the hooks said of the call, once they were run, and hooked that they
	// were.
	hook   *permissions.HookAnswer
	hooked bool
	// offered says that the person was asked to open hosts to one of its commands.
	offered atomic.Bool
	// trial is the trial of its command; nil if there is none.
	trial *trial
	// admitted is what the call may run by.
	admitted admission
}

// admission is what a call was let in by, and to do.
type admission struct {
	by *rules.View
	to *gate.Subject
}

// execution is a call that runs, and what goes on for it.
type execution struct {
	// slot is the call's right to run, and running the context it has it under; nil
	// until then.
	slot    *scheduler.Slot
	running context.Context //nolint:containedctx // for the slot's return, whoever lends it
	// work is what is under way for the call.
	work turn.Work
	// done is what it did, reads left out.
	done effects
}

// Work is what is under way for the call.
func (e *execution) Work() *turn.Work { return &e.work }

// ran reports whether the call has had its slot.
func (e *execution) ran() bool { return e.slot != nil }

// Lend gives the call's slot to others while do runs, as long as the call has one.
func (e *execution) Lend(do func()) {
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

func (c *core) session() *Session { return c.turn.Session() }

// identity says which call it is, and who makes it.
func (c *core) identity() capability.Call {
	call := capability.Call{ID: c.use.ID, Tool: c.name(), Session: c.session().ID, Turn: c.turn.ID(), Caller: c.turn.Caller()}
	if c.tool != nil {
		call.Server = c.server().Name
	}
	return call
}

// Logger takes what an operator should know about the call.
func (c *core) Logger() *slog.Logger {
	call := c.identity()
	return call.Logger(c.session().Host.Logger)
}

// Warn tells the operator.
func (c *core) Warn(format string, args ...any) {
	c.tell.Report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: fmt.Sprintf(format, args...)}})
}

// begins fails where nothing more of the turn is to begin.
func (c *core) begins() error {
	if reason := c.turn.Stopped(); reason != nil {
		return abi.Errorf(abi.CodeCancelled, "it was not begun: %s, which ends the turn", *reason)
	}
	return nil
}

// hookGrant is what hooks said of the call as it counts for its capability calls:
// what they allowed. What they asked about was answered before it started.
func (c *core) hookGrant() *permissions.HookAnswer {
	if c.hook == nil || c.hook.Verdict != permissions.Allow {
		return nil
	}
	return c.hook
}

// letGo removes what was spilled of a result that nobody gets.
func (c *core) letGo(content []abi.Block) { c.session().Storage.Results().Drop(content) }

// remark has the model told something behind the call's result, once.
func (c *core) remark(text string) { c.remarks.put(text) }

// effected are what the call did, reads left out. Of a native tool that ran it is
// what its input names, too: nobody sees what it does by itself.
func (c *core) effected() []permissions.Access {
	if _, native := c.tool.(*tool.Native); native && c.ran() {
		c.done.add(c.admitted.to.Accesses)
	}
	c.done.mu.Lock()
	defer c.done.mu.Unlock()
	return slices.Clone(c.done.list)
}

// ending says to the model why a call was ended from outside, by the cause of its
// context's end, or by what the scheduler says. Begun says that its tool ran.
func (c *core) ending(cause error, begun bool) error {
	if failed, ok := errors.AsType[*scheduler.CascadeError](cause); ok {
		return abi.Errorf(abi.CodeCancelled, "Cancelled: parallel tool call %s errored", nameOf(failed.Failed))
	}
	switch {
	case errors.Is(cause, ErrInterrupted) && begun:
		return abi.Errorf(abi.CodeInterrupted, "The user interrupted before %s had ended. What it had done by then stays as it is; do not run it again unasked.", c.short())
	case errors.Is(cause, ErrInterrupted):
		return abi.Errorf(abi.CodeInterrupted, "The user interrupted before %s began. Nothing of it was done.", c.short())
	}
	return abi.Errorf(abi.CodeCancelled, "%s was cancelled before it ended: %w", c.name(), cause)
}

// ErrInterrupted is the cause of the end of calls that the user interrupted.
var ErrInterrupted = abi.Errorf(abi.CodeInterrupted, "the user interrupted")

func nameOf(j scheduler.Job) string {
	if c, ok := j.(interface{ short() string }); ok {
		return c.short()
	}
	return "of this turn"
}

// show tells what the call is about, once its input is accepted.
func (c *core) show() {
	c.shown = &display.Call{
		Tool: c.tool.Contract(), Said: c.said, Title: c.title, Fields: c.input.fields, Cwd: c.session().Rules.View().Cwd,
	}
	c.tell.About(c.name(), c.title, c.server(), c.shown)
}

// heed tells of the hooks that ran, and keeps what they want the model told.
func (c *core) heed(o *hooks.Outcome) {
	c.tell.Hooks(o)
	c.notes = append(c.notes, o.Contexts...)
	c.notes = append(c.notes, o.Feedback...)
}

// held is the call as it is held to its traits.
func (c *core) held() traits.Held {
	return traits.Held{Tool: c.tool.Contract(), Traits: &c.traits, Distrust: &c.session().Distrust, Warner: c}
}
