package extism

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// maxRefused bounds the capability calls that are refused for their number. A
// guest that goes on all the same is ended.
const maxRefused = 1000

// endWait is how long a call that is over waits for a capability to notice.
const endWait = 50 * time.Millisecond

// call is the record of one call. It is also the context that the guest runs
// under, where host functions find it.
type call struct {
	engine.Run
	// ctx is the caller's, which capabilities run under.
	ctx    context.Context
	guest  *guest
	limits plugins.Limits
	config map[string]json.RawMessage
	do     plugins.CapabilityFunc
	report func(abi.ProgressHead)

	vars    map[string]string
	varSize int

	requests int
	reports  int
	dropped  int

	// exited says that the guest ended itself, though well.
	exited bool
}

// begin starts the call's clock.
func (m *module) begin(ctx context.Context, g *guest, inv plugins.Invocation) *call {
	c := &call{ctx: ctx, guest: g, limits: m.limits, config: inv.Config, do: inv.Capability, report: inv.Report}
	c.Tell(c.tellOutput)
	c.Begin(ctx, m.limits.Time)
	return c
}

func (c *call) tellOutput(line string) {
	if c.listens() {
		c.tell("info", line)
	}
}

// traced reports the stack trace of a guest that trapped, whatever the limit: it is for
// the plugin's author.
func (c *call) traced(err error) {
	if trace := engine.Trace(err); trace != "" && c.Over() == nil {
		c.pass("error", strings.ReplaceAll(trace, hostModule+".", moduleEnv+"."))
	}
}

// end stops the clock and reports what is left to report.
func (c *call) end() {
	c.End()
	if c.dropped > 0 {
		c.pass("warn", fmt.Sprintf("%d more log lines were dropped (limit log_lines = %d)", c.dropped, c.limits.LogLines))
	}
}

// violate ends the call: the guest broke the protocol.
func violate(format string, args ...any) {
	panic(abi.Errorf(abi.CodeProtocol, "it "+format, args...))
}

// capability does one capability call of the guest's.
func (c *call) capability(stack []uint64) {
	request := c.receive(stack[0])
	c.requests++
	switch over := c.requests - c.limits.CapabilityCalls; {
	case over > maxRefused:
		panic(abi.Errorf(abi.CodeLimit, "it goes on making capability calls that are over its limit (capability_calls = %d)", c.limits.CapabilityCalls))
	case over > 0:
		stack[0] = c.refuse(abi.Errorf(abi.CodeLimit, "this call made more than its %d capability calls (limit capability_calls)", c.limits.CapabilityCalls))
	case c.do == nil:
		stack[0] = c.refuse(abi.Errorf(abi.CodeUnsupported, "no capability is offered here"))
	default:
		stack[0] = c.perform(request)
	}
}

// receive copies a request out of the kernel's memory.
func (c *call) receive(offset uint64) abi.Request {
	view, err := c.guest.block(c, offset)
	if err != nil && !errors.Is(err, errOutside) {
		panic(err)
	}
	if len(view) == 0 {
		violate("passed %s the offset %d, where no memory block starts", CapabilityImport, offset)
	}
	if len(view) > maxRequest {
		violate("submitted a request of %d bytes, over the limit of %d", len(view), maxRequest)
	}
	request, err := abi.DecodeRequest(bytes.Clone(view))
	if err != nil {
		violate("submitted a broken request: %v", err)
	}
	return request
}

// perform does a request, with the guest's clock standing still, and returns
// the block of the message that answers it.
func (c *call) perform(req abi.Request) uint64 {
	c.Pause()
	defer c.Resume()
	reader := c.ask(req)
	free := func() { giveUp(reader) } // what was read is what counts
	defer free()
	defer context.AfterFunc(c.ctx, free)()
	c.stopIfOver()

	size := reader.Left()
	if size > MaxAnswer {
		return c.tooLarge(req)
	}
	if size >= 0 {
		return c.fill(req, reader, size)
	}
	var message bytes.Buffer
	_, err := safely(req, func() (int, error) {
		_, err := message.ReadFrom(io.LimitReader(reader, MaxAnswer+1))
		return 0, err
	})
	c.stopIfOver()
	switch {
	case err != nil:
		return c.brokeOff(req, err)
	case message.Len() > MaxAnswer:
		return c.tooLarge(req)
	}
	return c.deliver(message.Bytes())
}

// ask waits for a capability, which is to return soon after its context ends.
// One that does not is left to itself.
func (c *call) ask(req abi.Request) *abi.AnswerReader {
	answered := c.askBeside(req)
	select {
	case r := <-answered:
		return r
	case <-c.ctx.Done():
	}
	select {
	case r := <-answered:
		giveUp(r) // nobody is left to tell
	case <-time.After(endWait):
		go func() { giveUp(<-answered) }()
	}
	panic(context.Cause(c.ctx))
}

// askBeside does a request on a goroutine of its own, which the capability may
// end.
func (c *call) askBeside(req abi.Request) <-chan *abi.AnswerReader {
	answered := make(chan *abi.AnswerReader, 1)
	go func() {
		var r *abi.AnswerReader
		defer func() {
			if r == nil {
				r = abi.NewAnswerReader(abi.Answer{}, abi.Errorf(abi.CodeInternal, "the capability %s ended its goroutine", req.Name))
			}
			answered <- r
		}()
		r = guarded(c.ctx, c.do, req)
	}()
	return answered
}

// fill reads an answer straight into a new block.
func (c *call) fill(req abi.Request, reader *abi.AnswerReader, size int64) uint64 {
	c.Resume()
	offset, room, err := c.guest.newBlock(c, uint64(size))
	check(err)
	c.Pause()
	if offset == 0 {
		return c.noRoom(size)
	}
	_, err = safely(req, func() (int, error) { return io.ReadFull(reader, room) })
	c.stopIfOver()
	if err != nil {
		check(c.guest.release(c, offset))
		return c.brokeOff(req, err)
	}
	return offset
}

// stopIfOver ends the guest's call where its context is over by now.
func (c *call) stopIfOver() {
	if c.ctx.Err() != nil {
		panic(context.Cause(c.ctx))
	}
}

// guarded makes the message of a capability's answer. A panic of a capability,
// or of code that encodes its answer, is not the plugin's defect.
func guarded(ctx context.Context, do plugins.CapabilityFunc, req abi.Request) (r *abi.AnswerReader) {
	var answer abi.Answer
	defer func() {
		if p := recover(); p != nil {
			giveUp(&answer)
			r = abi.NewAnswerReader(abi.Answer{}, abi.Errorf(abi.CodeInternal, "the capability %s panicked: %v", req.Name, p))
		}
	}()
	answer, err := do(ctx, req)
	return abi.NewAnswerReader(answer, err)
}

// giveUp closes what nobody reads any more. Nobody is left to tell of a failure,
// nor of a panic, which may come on a goroutine of the host's own.
func giveUp(c io.Closer) {
	defer func() { _ = recover() }()
	_ = c.Close()
}

func safely(req abi.Request, read func() (int, error)) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = abi.Errorf(abi.CodeInternal, "the answer of the capability %s panicked: %v", req.Name, p)
		}
	}()
	return read()
}

func (c *call) tooLarge(req abi.Request) uint64 {
	return c.refuse(abi.Errorf(abi.CodeTooLarge, "%s: the answer is over the %s that Extism modules get at once; ask for it in ranges (offset and length, or lines)", req.Name, abi.Size(MaxAnswer)))
}

// brokeOff answers with what became of an answer's body, by the code that its
// error has.
func (c *call) brokeOff(req abi.Request, err error) uint64 {
	code := abi.CodeOf(err)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		code = abi.CodeIO // it is shorter than was said
	}
	return c.refuse(abi.Errorf(code, "%s: the answer broke off: %w", req.Name, err))
}

func (c *call) noRoom(size int64) uint64 {
	return c.refuse(abi.Errorf(abi.CodeLimit, "the answer of %d bytes does not fit into the limit memory = %s; read a smaller range", size, abi.Size(c.limits.Memory)))
}

// refuse answers with an error. Where even that has no room, the call ends.
func (c *call) refuse(err error) uint64 {
	message, _ := io.ReadAll(abi.NewAnswerReader(abi.Answer{}, err)) // memory does not fail
	c.Resume()
	offset, room, err := c.guest.newBlock(c, uint64(len(message)))
	check(err)
	if offset == 0 {
		c.full()
	}
	copy(room, message)
	return offset
}

func (c *call) deliver(message []byte) uint64 {
	c.Resume()
	offset, room, err := c.guest.newBlock(c, uint64(len(message)))
	check(err)
	if offset == 0 {
		return c.noRoom(int64(len(message)))
	}
	copy(room, message)
	return offset
}
