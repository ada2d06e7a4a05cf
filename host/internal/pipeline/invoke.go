package pipeline

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/scheduler"
)

// invocation is the tool of a call as it runs.
type invocation struct {
	*core
	call tool.Invocation
}

// grace is how long a tool has to come to its end once its context has. What it says
// by then counts; after it the call has its result without it.
const grace = 25 * time.Millisecond

// returnsSoon reports whether the tool can be called on the goroutine that its
// result waits on. Plugins can: their runners stop them when the context ends, and
// leave capability calls that do not heed it to themselves. Where somebody is told
// of events the call's own time is no matter, and nothing is taken on trust.
func (i invocation) returnsSoon() bool {
	_, plugin := i.tool.(tool.Plugin)
	return plugin && !i.tell.Listens()
}

// invokeAside calls the tool on a goroutine of its own, which is left to itself
// where it does not heed the end of ctx.
func (i invocation) invokeAside(ctx context.Context) (abi.ToolResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errCallOver)
	i.work.Enter()
	came, gone := make(chan invoked), make(chan struct{})
	defer close(gone)
	go func() {
		defer i.work.Leave()
		GrowStack()
		i.invokeHere(ctx, came, gone)
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
func (i invocation) invokeHere(ctx context.Context, came chan<- invoked, gone <-chan struct{}) {
	r := invoked{err: tool.ErrExited}
	defer func() {
		if v := recover(); v != nil {
			r = invoked{err: &scheduler.PanicError{Method: "Run", Value: v, Stack: debug.Stack()}}
		}
		select {
		case came <- r:
		case <-gone:
			i.letGo(r.result.Content)
		}
	}()
	r.result, r.err = i.tool.Call(ctx, i.call)
}

// invoked is what a tool that was called aside came to.
type invoked struct {
	result abi.ToolResult
	err    error
}

// errCallTime is the cause of a call that ran into the operator's time limit.
var errCallTime = errors.New("the operator's limit on a call's time")

func (c *core) limitTime(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := c.session().Host.CallTimeout
	if limit <= 0 {
		return ctx, func() {}
	}
	cause := &abi.Error{Code: abi.CodeTimeout, Err: errCallTime,
		Message: "the call ran longer than the " + limit.String() + " that the operator allows a call"}
	return context.WithTimeoutCause(ctx, limit, cause)
}
