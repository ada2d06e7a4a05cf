package extism

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	sdk "github.com/extism/go-sdk"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/guestclock"
	"github.com/toolquay/toolquay/plugins"
)

// callKey is the context key under which the host function finds the call it
// serves: the SDK hands it nothing else. It carries no authority elsewhere.
type callKey struct{}

// call is the record of one call.
type call struct {
	// ctx is what capabilities run under. The context that host functions get
	// also carries the SDK's plugin and kernel under exported keys, where the
	// start function of a plugin called from a capability would find them.
	ctx    context.Context
	limits plugins.Limits
	clock  *guestclock.Clock
	do     plugins.CapabilityFunc
	report func(abi.ProgressHead)
	output guestLog

	requests int
	reports  int
	dropped  int
	lastLog  string

	// ended is set once the instance is closed by us. A module that is closed
	// before that exited, which the SDK does not tell for code 0.
	ended    atomic.Bool
	exited   atomic.Bool
	exitCode atomic.Uint32
}

// closed is told by the engine that a module of this call's instance closes.
func (c *call) closed(_ context.Context, code uint32) {
	if !c.ended.Load() && !c.exited.Swap(true) {
		c.exitCode.Store(code)
	}
}

// errExited says that a guest exited instead of returning.
var errExited = errors.New("exited before it answered")

func (c *call) exit() error {
	if !c.exited.Load() {
		return nil
	}
	return fmt.Errorf("%w, with code %d", errExited, c.exitCode.Load())
}

// end reports what is left to report.
func (c *call) end() {
	c.clock.Stop()
	c.output.flush()
	if c.dropped > 0 {
		c.pass("warn", fmt.Sprintf("%d more log lines were dropped (limit log_lines = %d)", c.dropped, c.limits.LogLines))
	}
}

func capabilityFunction() sdk.HostFunction {
	f := sdk.NewHostFunctionWithStack(CapabilityImport, capability,
		[]sdk.ValueType{sdk.ValueTypePTR}, []sdk.ValueType{sdk.ValueTypePTR})
	f.SetNamespace(moduleUser)
	return f
}

// capability does one capability call of a guest. What violates the protocol is
// a panic, which the engine turns into the error of the guest's call.
func capability(ctx context.Context, p *sdk.CurrentPlugin, stack []uint64) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		violate("called %s outside a call", CapabilityImport)
	}
	answer := c.perform(receive(ctx, p, stack[0]))
	offset := deliver(ctx, p, answer)
	if offset == 0 {
		offset = deliver(ctx, p, encode(abi.Answer{}, abi.Errorf(abi.CodeLimit,
			"the answer of %d bytes does not fit into the limit memory = %s; read a smaller range", len(answer), abi.Size(c.limits.Memory))))
	}
	if offset == 0 {
		panic(abi.Errorf(abi.CodeLimit, "its memory is full (limit memory = %s)", abi.Size(c.limits.Memory)))
	}
	stack[0] = offset
}

func violate(format string, args ...any) {
	panic(abi.Errorf(abi.CodeProtocol, "it "+format, args...))
}

// receive copies a request out of the kernel's memory.
func receive(ctx context.Context, p *sdk.CurrentPlugin, offset uint64) abi.Request {
	size, err := p.LengthWithContext(ctx, offset)
	if err != nil || size == 0 {
		violate("passed %s the offset %d, where no memory block starts", CapabilityImport, offset)
	}
	if size > maxRequest {
		violate("submitted a request of %d bytes, over the limit of %d", size, maxRequest)
	}
	message, err := p.ReadBytes(offset)
	if err != nil {
		violate("submitted a request outside its memory: %v", err)
	}
	request, err := abi.DecodeRequest(message)
	if err != nil {
		violate("submitted a broken request: %v", err)
	}
	return request
}

// deliver writes an answer to a new block. It returns 0 where there is no room.
func deliver(ctx context.Context, p *sdk.CurrentPlugin, message []byte) uint64 {
	offset, err := p.AllocWithContext(ctx, uint64(len(message)))
	if err != nil || offset == 0 || !p.Memory().Write(uint32(offset), message) {
		return 0
	}
	return offset
}

// perform does a request and returns the message that answers it, with the
// guest's clock standing still.
func (c *call) perform(req abi.Request) []byte {
	c.requests++
	if c.requests > c.limits.CapabilityCalls {
		return encode(abi.Answer{}, abi.Errorf(abi.CodeLimit, "this call made more than its %d capability calls (limit capability_calls)", c.limits.CapabilityCalls))
	}
	if c.do == nil {
		return encode(abi.Answer{}, abi.Errorf(abi.CodeUnsupported, "no capability is offered here"))
	}
	c.clock.Pause()
	defer c.clock.Resume()
	answer, err := guarded(c.ctx, c.do, req)
	reader := abi.NewAnswerReader(answer, err)
	free := func() { _ = reader.Close() } // what was read is what counts
	defer free()
	stop := context.AfterFunc(c.ctx, free)
	defer stop()

	var message bytes.Buffer
	_, err = message.ReadFrom(io.LimitReader(reader, MaxAnswer+1))
	if c.ctx.Err() != nil {
		panic(context.Cause(c.ctx))
	}
	switch {
	case err != nil:
		return encode(abi.Answer{}, abi.Errorf(abi.CodeIO, "%s: the answer broke off: %w", req.Name, err))
	case message.Len() > MaxAnswer:
		return encode(abi.Answer{}, abi.Errorf(abi.CodeTooLarge, "%s: the answer is over the %s that Extism modules get at once; ask for it in ranges (offset and length, or lines)", req.Name, abi.Size(MaxAnswer)))
	}
	return message.Bytes()
}

// guarded keeps a defect of a capability from passing for one of the plugin.
func guarded(ctx context.Context, do plugins.CapabilityFunc, req abi.Request) (a abi.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = abi.Errorf(abi.CodeInternal, "the capability %s panicked: %v", req.Name, p)
		}
	}()
	return do(ctx, req)
}

// encode writes an answer without a body.
func encode(a abi.Answer, err error) []byte {
	message, _ := io.ReadAll(abi.NewAnswerReader(a, err)) // memory does not fail
	return message
}

// refusedHTTP is how the SDK's panic at a refused http_request begins.
const refusedHTTP = "HTTP request to "

// explain turns what ended a call into an error that says whose doing it was.
func (m *module) explain(ctx context.Context, c *call, err error) error {
	c.output.flush()
	cause := context.Cause(ctx)
	var known *abi.Error
	switch {
	case errors.Is(cause, guestclock.ErrOutOfTime):
		return abi.Errorf(abi.CodeTimeout, "plugin %s ran longer than its limit of %s (limit time)", m.name, m.limits.Time)
	case cause != nil && errors.As(cause, &known):
		return known
	case errors.Is(cause, context.DeadlineExceeded):
		return abi.Errorf(abi.CodeTimeout, "the call ran into its time limit in plugin %s: %w", m.name, cause)
	case cause != nil:
		return abi.Errorf(abi.CodeCancelled, "the call was cancelled in plugin %s: %w", m.name, cause)
	case errors.As(err, &known):
		return &abi.Error{Code: known.Code, Message: fmt.Sprintf("plugin %s: %s", m.name, known.Message), Err: known}
	case c.exit() != nil:
		return abi.Errorf(abi.CodeTrap, "plugin %s %w%s", m.name, c.exit(), said(c.lastLog))
	case strings.HasPrefix(err.Error(), refusedHTTP):
		return abi.Errorf(abi.CodeUnsupported, "plugin %s called Extism's http_request, which this host never gives; only capabilities reach the network", m.name)
	}
	return abi.Errorf(abi.CodeTrap, "plugin %s trapped: %s%s", m.name, firstLine(err), said(c.lastLog))
}

func said(log string) string {
	if log == "" {
		return ""
	}
	return fmt.Sprintf(" (it last logged %q)", log)
}

// firstLine leaves out the guest's stack trace, which is for its author.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
