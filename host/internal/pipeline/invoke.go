package pipeline

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// grace is how long a tool has to come to its end once its context has. What it says
// by then counts; after it the call has its result without it.
const grace = 25 * time.Millisecond

// errCallOver is the cause of the end of what a call set off and did not wait for.
var errCallOver = abi.Errorf(abi.CodeCancelled, "the call that made it has ended")

// maxDepth is how many calls may be above one that a call makes.
const maxDepth = 8

// callKey is the context key under which what runs in a call finds it. It carries
// no authority: what is found takes part in the call's turn, and is judged like any
// other call.
type callKey struct{}

// Running returns the call that runs under a context; nil where there is none.
func Running(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// invoke calls the tool.
func (c *Call) invoke(ctx context.Context, g *callGate) (abi.ToolResult, error) {
	ctx = context.WithValue(ctx, callKey{}, c)
	inv := plugins.Invocation{
		ID:         c.use.ID,
		Input:      c.input.json,
		Cwd:        g.view.Cwd,
		Session:    c.session().Kept,
		Capability: g.do,
		Report:     c.tell.Report,
		Spill:      c.session().Storage.Results().Spiller(),
	}
	if c.returnsSoon() {
		return c.tool.Call(ctx, inv)
	}
	return c.invokeAside(ctx, inv)
}

// returnsSoon reports whether the tool can be called on the goroutine that its
// result waits on. Plugins can: their runners stop them when the context ends, and
// leave capability calls that do not heed it to themselves. Where somebody is told
// of events the call's own time is no matter, and nothing is taken on trust.
func (c *Call) returnsSoon() bool {
	_, plugin := c.tool.(tool.Plugin)
	return plugin && !c.tell.Listens()
}

// invoked is what a tool that was called aside came to.
type invoked struct {
	result abi.ToolResult
	err    error
}

// invokeAside calls the tool on a goroutine of its own, which is left to itself
// where it does not heed the end of ctx.
func (c *Call) invokeAside(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errCallOver)
	c.work.Enter()
	came, gone := make(chan invoked), make(chan struct{})
	defer close(gone)
	go func() {
		defer c.work.Leave()
		GrowStack()
		c.invokeHere(ctx, inv, came, gone)
	}()
	select {
	case r := <-came:
		return r.result, r.err
	case <-ctx.Done():
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case r := <-came:
		return r.result, r.err
	case <-patience.C:
		return abi.ToolResult{}, gate.Cancelled(ctx)
	}
}

// invokeHere calls the tool and hands over what came of it, in any case, or lets go
// of it where nobody waits any more.
func (c *Call) invokeHere(ctx context.Context, inv plugins.Invocation, came chan<- invoked, gone <-chan struct{}) {
	r := invoked{err: tool.ErrExited}
	defer func() {
		if v := recover(); v != nil {
			r = invoked{err: &scheduler.PanicError{Method: "Run", Value: v, Stack: debug.Stack()}}
		}
		select {
		case came <- r:
		case <-gone:
			c.letGo(r.result.Content)
		}
	}()
	r.result, r.err = c.tool.Call(ctx, inv)
}

// letGo removes what was spilled of a result that nobody gets.
func (c *Call) letGo(content []abi.Block) { c.session().Storage.Results().Drop(content) }

// errCallTime is the cause of a call that ran into the operator's time limit.
var errCallTime = errors.New("the operator's limit on a call's time")

func (c *Call) limitTime(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := c.session().Host.CallTimeout
	if limit <= 0 {
		return ctx, func() {}
	}
	cause := &abi.Error{Code: abi.CodeTimeout, Err: errCallTime,
		Message: "the call ran longer than the " + limit.String() + " that the operator allows a call"}
	return context.WithTimeoutCause(ctx, limit, cause)
}
