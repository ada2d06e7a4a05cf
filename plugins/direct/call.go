package direct

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/guestclock"
	"github.com/toolquay/toolquay/plugins"
)

// maxOutstanding bounds the capability calls of one guest call that are under
// way or unread at once. Each may hold a whole answer in the host's memory.
const maxOutstanding = 32

// maxRefused bounds the capability calls that are refused for their number. A
// guest that goes on all the same is ended.
const maxRefused = 1000

// callKey is the context key under which host functions find the call they
// serve: wazero hands them nothing else. It carries no authority elsewhere.
type callKey struct{}

// call is the record of one call into a guest.
type call struct {
	parent *call // the call this one was made under, if a plugin's tool calls a tool
	module *module
	limits plugins.Limits
	clock  *guestclock.Clock

	// do is the host's gate, nil while there is none: in start functions and in
	// assess.
	do     plugins.CapabilityFunc
	report func(abi.ProgressHead)

	// requests are the capability calls under way, and underWay their number.
	requests sync.WaitGroup
	underWay atomic.Int32

	// The rest belongs to the guest's goroutine, but for handles' own locks.
	handles map[uint32]*handle
	lastID  uint32
	refused int
	reports int
	dropped int
	lastLog string
}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// begin starts a capability call and returns its id.
func (c *call) begin(ctx context.Context, request abi.Request) uint32 {
	c.lastID++
	do := func(ctx context.Context) (abi.Answer, error) { return c.do(ctx, request) }
	over := int64(c.lastID) > int64(c.limits.CapabilityCalls)
	if over || len(c.handles) >= maxOutstanding {
		if c.refused++; c.refused > maxRefused {
			panic(abi.Errorf(abi.CodeLimit, "the plugin goes on making capability calls that are over its limits (capability_calls = %d, %d outstanding)",
				c.limits.CapabilityCalls, maxOutstanding))
		}
	}
	switch {
	case over:
		do = refuse("this call made more than its %d capability calls (limit capability_calls)", c.limits.CapabilityCalls)
	case len(c.handles) >= maxOutstanding:
		do = refuse("more than %d capability answers are outstanding; read or cancel some first", maxOutstanding)
	}
	ctx, stop := context.WithCancel(ctx)
	h := &handle{cancel: stop, done: make(chan struct{})}
	c.handles[c.lastID] = h
	c.underWay.Add(1)
	c.requests.Go(func() {
		defer c.underWay.Add(-1)
		h.run(ctx, do)
	})
	return c.lastID
}

func refuse(format string, n int) func(context.Context) (abi.Answer, error) {
	return func(context.Context) (abi.Answer, error) {
		return abi.Answer{}, abi.Errorf(abi.CodeLimit, format, n)
	}
}

// first waits until one of the handles is answered.
func (c *call) first(ctx context.Context, waiting []*handle) int {
	for i, h := range waiting {
		select {
		case <-h.done:
			return i
		default:
		}
	}
	c.clock.Pause()
	defer c.clock.Resume()
	if len(waiting) == 1 {
		select {
		case <-waiting[0].done:
			return 0
		case <-ctx.Done():
			panic(context.Cause(ctx))
		}
	}
	return c.firstOf(ctx, waiting)
}

func (c *call) firstOf(ctx context.Context, waiting []*handle) int {
	answered := make(chan int, len(waiting))
	quit := make(chan struct{})
	defer close(quit)
	for i, h := range waiting {
		go func() {
			select {
			case <-h.done:
				answered <- i
			case <-quit:
			}
		}()
	}
	select {
	case i := <-answered:
		return i
	case <-ctx.Done():
		panic(context.Cause(ctx))
	}
}

func (c *call) handle(what string, id uint32) *handle {
	h, ok := c.handles[id]
	if !ok {
		violate("named the capability call %d in %s, which was never made or is freed", id, what)
	}
	return h
}

// readInto reads from an answer whose body may have to be waited for, with the
// guest's clock standing still.
func (c *call) readInto(ctx context.Context, h *handle, room []byte) (int, error) {
	if h.reader != nil && h.reader.Buffered() > 0 {
		return h.read(room)
	}
	c.clock.Pause()
	defer c.clock.Resume()
	stop := context.AfterFunc(ctx, h.free)
	defer stop()
	return h.read(room)
}

func (c *call) drop(id uint32) {
	if h, ok := c.handles[id]; ok {
		delete(c.handles, id)
		h.free()
	}
}

// tell passes a report on, within the limit on log lines.
func (c *call) tell(head abi.ProgressHead) {
	if c.reports >= c.limits.LogLines {
		c.dropped++
		return
	}
	c.reports++
	if head.Log != nil {
		c.lastLog = head.Log.Message
	}
	if c.report != nil {
		c.report(head)
	}
}

// endWait is how long the end of a call waits for capability calls that it
// cancels, so that what they do is over before the next call begins. Those that
// do not end by then are left to themselves.
const endWait = 50 * time.Millisecond

// end frees what the call holds and cancels capability calls still under way.
func (c *call) end() {
	c.clock.Stop()
	for id := range c.handles {
		c.drop(id)
	}
	if c.underWay.Load() > 0 {
		c.await()
	}
	if c.dropped > 0 && c.report != nil {
		c.report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: fmt.Sprintf(
			"%d more log lines and progress reports were dropped (limit log_lines = %d)", c.dropped, c.limits.LogLines)}})
	}
}

func (c *call) await() {
	ended := make(chan struct{})
	go func() {
		c.requests.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(endWait):
	}
}
