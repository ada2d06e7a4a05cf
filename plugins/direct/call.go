package direct

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

const (
	// maxOutstanding bounds the capability calls of one guest call that are
	// under way or unread at once.
	maxOutstanding = 32
	// maxHeld bounds what the requests under way and the unread answers of one
	// guest call together hold of the host's memory, in bytes. One answer alone
	// may be larger.
	maxHeld = 64 << 20
	// maxRefused bounds the capability calls that are refused for their number.
	// A guest that goes on all the same is ended.
	maxRefused = 1000
)

// callKey is the context key under which a call finds the one that it was made
// under. It carries no authority elsewhere.
type callKey struct{}

// call is the record of one call into a guest, and the context that the guest
// runs under, by which host functions find it.
type call struct {
	engine.Run
	parent *call // the call this one was made under, if a plugin's tool calls a tool
	module *module
	limits plugins.Limits

	// do is the host's gate, nil while there is none, as in assess.
	do     plugins.CapabilityFunc
	report func(abi.ProgressHead)

	// requests are the capability calls that run beside the guest, underWay
	// their number, and held what requests and answers hold of the host's memory.
	requests sync.WaitGroup
	underWay atomic.Int32
	held     atomic.Int64

	// The rest belongs to the guest's goroutine, but for handles' own locks.
	handles []*handle
	few     [2]*handle // room for the first of them
	// pending is the capability call that was submitted last. It starts when the
	// guest waits for it or turns to something else: most guests wait at once, and
	// handing it to another processor in between would cost more than it saves.
	pending *handle
	lastID  uint32
	refused int
	reports int
	dropped int
	late    *late // nil until there are more reports than are passed on
}

func newCall(ctx context.Context, m *module) *call {
	c := &call{parent: callOf(ctx), module: m, limits: m.limits}
	c.handles = c.few[:0]
	return c
}

// callOf returns the call that a context was handed out in, or nil.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// serving returns the call that a host function serves, or nil in a start
// function, whatever call its instance is made under. Other than callOf it does
// not look through contexts that were put around a call.
func serving(ctx context.Context) *call {
	c, _ := ctx.(*call)
	return c
}

// Value is as in [context.Context].
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Run.Value(key)
}

// begun begins the run of a call and returns the context that the guest runs
// under: the call itself, with which host functions find it.
func (c *call) begun(ctx context.Context) context.Context {
	c.Begin(ctx, c.limits.Time)
	c.Tell(c.logged)
	return c
}

// Refilled is called while the guest runs, every millisecond or so.
func (c *call) Refilled(context.Context) { c.launch() }

// begin takes a capability call on and returns its id.
func (c *call) begin(request abi.Request, size int) uint32 {
	c.launch()
	c.lastID++
	h := &handle{id: c.lastID, call: c}
	over := int64(c.lastID) > int64(c.limits.CapabilityCalls)
	full := len(c.handles) >= maxOutstanding
	c.handles = append(c.handles, h)
	switch {
	case over:
		h.refuse("this call made more than its %d capability calls (limit capability_calls)", c.limits.CapabilityCalls)
	case full:
		h.refuse("more than %d capability answers are outstanding; read or cancel some first", maxOutstanding)
	case !c.hold(int64(size)):
		h.refuse("the capability calls under way and the answers that the plugin has not read take over %d MiB of the host's memory; read or cancel some first", maxHeld>>20)
	default:
		h.request, h.size = request, int64(size)
		c.pending = h
		return h.id
	}
	if c.refused++; c.refused > maxRefused {
		panic(abi.Errorf(abi.CodeLimit, "the plugin goes on making capability calls that are over its limits (capability_calls = %d, %d outstanding)",
			c.limits.CapabilityCalls, maxOutstanding))
	}
	return h.id
}

// launch lets the pending capability call run beside the guest.
//
//nolint:contextcheck,nolintlint // its handle is the context, the guest's behind it; contextcheck reads this by itself
func (c *call) launch() {
	h := c.pending
	if h == nil {
		return
	}
	c.pending = nil
	h.done = make(chan struct{})
	c.underWay.Add(1)
	c.requests.Add(1)
	dispatch(h)
}

// await waits for the answer of one capability call, with the guest's clock
// standing still. It does not return where the call is over: that may be what ended
// the capability, also one that the guest comes to wait for only now.
func (c *call) await(ctx context.Context, h *handle) {
	c.launch()
	if !h.answered() {
		c.Pause()
		defer c.Resume()
		select {
		case <-h.done:
		case <-ctx.Done():
		}
	}
	c.CheckContext()
}

// awaitAny waits until one of several is answered, as await does for one.
func (c *call) awaitAny(ctx context.Context, waiting []*handle) int {
	if len(waiting) == 1 {
		c.await(ctx, waiting[0])
		return 0
	}
	c.launch()
	index := slices.IndexFunc(waiting, (*handle).answered)
	if index < 0 {
		index = c.first(ctx, waiting)
	}
	c.CheckContext()
	return index
}

// settle waits for the answer of a call that the guest has left to run.
func (h *handle) settle(ctx context.Context) error {
	h.call.launch()
	if h.done == nil {
		return nil
	}
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// first is the index of the handle that is answered first, or -1 where the call is
// over before.
func (c *call) first(ctx context.Context, waiting []*handle) int {
	c.Pause()
	defer c.Resume()
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
		return -1
	}
}

func (c *call) find(id uint32) *handle {
	for _, h := range c.handles {
		if h.id == id {
			return h
		}
	}
	return nil
}

func (c *call) handle(what string, id uint32) *handle {
	h := c.find(id)
	if h == nil {
		violate("named the capability call %d in %s, which was never made or is freed", id, what)
	}
	return h
}

func (c *call) drop(id uint32) {
	for i, h := range c.handles {
		if h.id != id {
			continue
		}
		last := len(c.handles) - 1
		c.handles[i], c.handles[last] = c.handles[last], nil
		c.handles = c.handles[:last]
		if c.pending == h {
			c.pending = nil
			h.release() // it will never be made
		}
		h.free()
		return
	}
}

// endWait is how long the end of a call waits for capability calls that it
// cancels, so that what they do is over before the next call begins. Those that
// do not end by then are left to themselves.
const endWait = 50 * time.Millisecond

// end frees what the call holds and cancels capability calls still under way.
func (c *call) end() {
	c.End()
	c.pending = nil
	for _, h := range c.handles {
		h.free()
	}
	c.handles = nil
	if c.underWay.Load() > 0 {
		c.awaitRequests()
	}
	c.endReports()
}

func (c *call) awaitRequests() {
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
