package pipeline

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// Call is one tool call on its way through the stages. It implements [scheduler.Job].
type Call struct{ core }

var _ scheduler.Job = (*Call)(nil)

// Submit makes a call, does what can be done before its turn comes (look-up, schema,
// traits), and has add give it its place. A call that fails here has its result.
func Submit(ctx context.Context, t Turn, add func(*Call), index int, use abi.ToolUse) {
	c := newCall(t, index, use)
	c.consultation = gate.NewConsultation(t.Session().Judge)
	err := preparing{&c.core}.prepare(ctx)
	// Deferred, because an observer of the event may end this goroutine (runtime.Goexit).
	defer add(c)
	if err != nil {
		defer c.refuse(err)
	}
	c.tell.Queued(c.input.raw())
}

func newCall(t Turn, index int, use abi.ToolUse) *Call {
	c := &Call{core{turn: t, tell: t.Telling(index, &use), request: request{use: use}}}
	c.files.Begin(t.Files(), index)
	return c
}

// Turn is the turn that the call belongs to.
func (c *Call) Turn() Turn { return c.turn }

// Inner is the read state of files for the calls that this one makes.
func (c *Call) Inner() *filestate.Turn { return c.files.Inner() }

// Teller takes what the call tells.
func (c *Call) Teller() Teller { return c.tell }

// Held is the call as it is held to its traits.
func (c *Call) Held() traits.Held { return c.held() }

// refuse ends the call with an error for the model.
func (c *Call) refuse(err error) { finishing{&c.core}.refuse(err) }

// callKey is the context key under which what runs in a call finds it. It carries
// no authority: what is found takes part in the call's turn, and is judged like any
// other call.
type callKey struct{}

// Running returns the call that runs under a context; nil where there is none.
func Running(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Unordered says that the call stands in no order with others: if it has its result already,
// it waits for none of them.
func (c *Call) Unordered() { c.idle = c.idle || c.ended }

// Traits are what orders the call. One whose tool there is not has its result, and
// holds nobody back.
func (c *Call) Traits() scheduler.Traits {
	if c.idle {
		return scheduler.Traits{Safe: true, Locked: true}
	}
	if c.traits.Locked && c.settled != c.turn.Altered().Load() {
		preparing{&c.core}.settle()
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
		a := admitting{&c.core}
		a.comeBack()
		err = a.admit(ctx)
	}
	if err == nil {
		err = c.begins()
	}
	if err != nil {
		c.notBegun(ctx, err)
	}
	return err == nil
}

// notBegun ends the call before its tool was called, but perhaps for a rehearsal.
func (c *Call) notBegun(ctx context.Context, err error) {
	c.dropTrial()
	failure, ok := errors.AsType[*rehearsed](err)
	switch {
	case ctx.Err() != nil:
		c.refuse(c.ending(context.Cause(ctx), false))
	case ok:
		finishing{&c.core}.end(newJudging(&c.core).postHooks(ctx, failure.result, nil))
	default:
		c.refuse(err)
	}
}

// Run calls the tool, in a slot.
func (c *Call) Run(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
	defer c.dropTrial()
	g := newJudging(&c.core)
	if err := g.stands(); err != nil {
		c.refuse(err)
		return scheduler.Outcome{}
	}
	c.tell.Started()
	c.slot, c.running = slot, ctx
	c.consultation.Runs(ctx)
	limited, cancel := c.limitTime(ctx)
	defer cancel()
	after := g.watchEdits(limited)
	c.tell.Clocks().Tool(true)
	result, err := c.carryOut(limited, g)
	c.tell.Clocks().Tool(false)
	if after != nil && err == nil && !result.IsError {
		after(limited)
	}
	if err != nil {
		c.letGo(result.Content)
		err = finishing{&c.core}.reason(ctx, err)
		result = failed(err)
	}
	finishing{&c.core}.end(g.postHooks(limited, result, err))
	return finishing{&c.core}.scheduled(ctx)
}

// carryOut calls the tool. If its command was tried, it makes that trial stand instead.
func (c *Call) carryOut(ctx context.Context, g *judging) (abi.ToolResult, error) {
	if t := c.trial; t != nil {
		c.trial = nil
		defer t.drop()
		return t.stand(ctx)
	}
	return c.invoke(ctx, &world{judging: g})
}

// invoke calls the tool.
func (c *Call) invoke(ctx context.Context, w *world) (abi.ToolResult, error) {
	ctx = context.WithValue(ctx, callKey{}, c)
	i := invocation{&c.core, tool.Invocation{Person: asker{w}, Session: c.session().ID, Policy: w.Policy(), Keep: c.session().Storage.Keep, Invocation: plugins.Invocation{
		ID:    c.use.ID,
		Input: c.input.json,
		Cwd:   w.view.Cwd,

		UserModified: c.userModified,
		Session:      c.session().Kept,
		Capability:   w.do,
		Report:       c.tell.Report,
		Spill:        c.session().Storage.Results().Spiller(),
	}}}
	if i.returnsSoon() {
		return c.tool.Call(ctx, i.call)
	}
	return i.invokeAside(ctx)
}

// Fail ends the call with what the scheduler says of it.
func (c *Call) Fail(err error) {
	if panicked, ok := errors.AsType[*scheduler.PanicError](err); ok {
		err = finishing{&c.core}.panicked(panicked)
	} else {
		err = c.ending(err, false)
	}
	c.ended = false
	c.dropTrial()
	c.refuse(err)
}

// Settle applies the call's effects on the session. A result that is an error has them
// too where it is its tool's own: a shell has moved whether or not its last command
// failed. One that the host made for a call that could not run to its end has none.
func (c *Call) Settle() {
	defer c.turn.Ended().Add(1)
	if c.traits.Alone() || len(c.result.Changes) > 0 {
		defer c.turn.Altered().Add(1)
	}
	if !c.result.IsError {
		c.files.Settle()
	}
	finishing{&c.core}.applyChanges()
}

// Yield lets the result leave. A reader who is slow holds it back where results
// take much memory, and with it the calls that would bring more.
func (c *Call) Yield() {
	finishing{&c.core}.addTasks()
	c.turn.Leave(Leaving{c.tell, &c.result, c.fitted})
}

// Drop lets go of the result, which does not leave, and tells what was done.
func (c *Call) Drop() {
	c.tell.Discarded(c.effected())
}
