package direct

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

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

// maxRequest bounds what a guest can hand to one submit or progress, in bytes.
const maxRequest = 16 << 20

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

// linkHost defines abi.ImportModule in the runtime.
func linkHost(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(abi.ImportModule)
	functions := map[string]api.GoModuleFunc{
		abi.ImportSubmit:   submit,
		abi.ImportWait:     wait,
		abi.ImportRead:     read,
		abi.ImportCancel:   cancel,
		abi.ImportProgress: progress,
	}
	for name, f := range functions {
		s := imports[name]
		b.NewFunctionBuilder().WithGoModuleFunction(f, s.params, s.results).Export(name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return abi.Errorf(abi.CodeInternal, "linking %s: %w", abi.ImportModule, err)
	}
	return nil
}

// violate ends the call: the guest broke the protocol. wazero turns the panic
// into the error of the guest function's call.
func violate(format string, args ...any) {
	panic(abi.Errorf(abi.CodeProtocol, "the plugin "+format, args...))
}

// view returns the guest's memory at ptr, which stays the guest's.
func view(mod api.Module, what string, ptr, size uint32) []byte {
	b, ok := mod.Memory().Read(ptr, size)
	if !ok {
		violate("passed %s a pointer outside its memory: %d bytes at %#x of %d", what, size, ptr, mod.Memory().Size())
	}
	return b
}

func submit(ctx context.Context, mod api.Module, stack []uint64) {
	c := callOf(ctx)
	if c == nil || c.do == nil {
		violate("called submit where no capability is offered: in a start function or in assess")
	}
	ptr, size := uint32(stack[0]), uint32(stack[1])
	if size > maxRequest {
		violate("submitted a request of %d bytes, over the limit of %d", size, maxRequest)
	}
	// Copied, because the guest goes on while the request is served.
	message := append([]byte(nil), view(mod, abi.ImportSubmit, ptr, size)...)
	request, err := abi.DecodeRequest(message)
	if err != nil {
		violate("submitted a broken request: %v", err)
	}
	stack[0] = uint64(c.begin(ctx, request))
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

func wait(ctx context.Context, mod api.Module, stack []uint64) {
	c := callOf(ctx)
	if c == nil {
		violate("called wait outside a call")
	}
	ptr, count := uint32(stack[0]), uint32(stack[1])
	if count == 0 || count > abi.MaxWait {
		violate("called wait for %d ids; 1 to %d are possible", count, abi.MaxWait)
	}
	ids := view(mod, abi.ImportWait, ptr, 4*count)
	waiting := make([]*handle, count)
	for i := range waiting {
		waiting[i] = c.handle(abi.ImportWait, binary.LittleEndian.Uint32(ids[4*i:]))
	}
	index := c.first(ctx, waiting)
	ready := min(waiting[index].ready(), math.MaxInt32)
	stack[0] = uint64(ready)<<32 | uint64(index)
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

func read(ctx context.Context, mod api.Module, stack []uint64) {
	c := callOf(ctx)
	if c == nil {
		violate("called read outside a call")
	}
	id, ptr, size := uint32(stack[0]), uint32(stack[1]), uint32(stack[2])
	h := c.handle(abi.ImportRead, id)
	room := view(mod, abi.ImportRead, ptr, min(size, math.MaxInt32))
	c.first(ctx, []*handle{h})
	if len(room) == 0 {
		stack[0] = 0
		return
	}
	n, err := c.readInto(ctx, h, room)
	if n > 0 {
		stack[0] = uint64(n) // an error will be there again at the next read
		return
	}
	c.drop(id)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		stack[0] = 0
	case ctx.Err() != nil:
		panic(context.Cause(ctx))
	default:
		stack[0] = api.EncodeI32(-1)
	}
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

func cancel(ctx context.Context, _ api.Module, stack []uint64) {
	if c := callOf(ctx); c != nil {
		c.drop(uint32(stack[0]))
	}
}

func (c *call) drop(id uint32) {
	if h, ok := c.handles[id]; ok {
		delete(c.handles, id)
		h.free()
	}
}

func progress(ctx context.Context, mod api.Module, stack []uint64) {
	c := callOf(ctx)
	if c == nil {
		return // a start function has nobody to report to
	}
	ptr, size := uint32(stack[0]), uint32(stack[1])
	message := view(mod, abi.ImportProgress, ptr, size)
	if size > maxReport {
		violate("reported %d bytes of progress at once, over the limit of %d", size, maxReport)
	}
	if c.reports >= c.limits.LogLines {
		c.dropped++
		return
	}
	head, err := abi.DecodeProgress(message)
	if err != nil {
		violate("reported broken progress: %v", err)
	}
	c.tell(head)
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

// maxReport bounds one progress report or log line, in bytes.
const maxReport = 64 << 10

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
