package direct

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/guestclock"
	"github.com/toolquay/toolquay/plugins"
)

// instance is one instantiated module. Its functions are looked up once: each
// look-up costs wazero more than a call does.
type instance struct {
	mod    api.Module
	alloc  api.Function
	call   api.Function
	assess api.Function
	output *guestLog
	stack  [2]uint64
}

// instantiate makes an instance and runs its start function and _initialize,
// under the plugin's limits.
func (m *module) instantiate(ctx context.Context) (*instance, error) {
	// A start function serves no call, not even one that this one is made under.
	ctx = context.WithValue(ctx, callKey{}, (*call)(nil))
	ctx, cancelCause := context.WithCancelCause(withMemories(ctx, m.memories))
	defer cancelCause(nil)
	clock := guestclock.Start(m.limits.Time, cancelCause)
	defer clock.Stop()

	output := &guestLog{}
	mod, err := m.runner.runtime.InstantiateModule(ctx, m.compiled, moduleConfig(output))
	if err != nil {
		return nil, m.explain(ctx, m.limits, output.last(), fmt.Errorf("while starting: %w", err))
	}
	in := &instance{
		mod:    mod,
		alloc:  mod.ExportedFunction(abi.ExportAlloc),
		call:   mod.ExportedFunction(abi.ExportCall),
		output: output,
	}
	if m.shape.assess {
		in.assess = mod.ExportedFunction(abi.ExportAssess)
	}
	if m.shape.initialize {
		if err := mod.ExportedFunction(abi.ExportInitialize).CallWithStack(ctx, nil); err != nil {
			in.close(ctx)
			return nil, m.explain(ctx, m.limits, output.last(), fmt.Errorf("in _initialize: %w", err))
		}
	}
	return in, nil
}

// moduleConfig gives a guest nothing but a clock and random numbers that are
// real, where wazero's defaults are a fixed seed and the year 2022.
func moduleConfig(output *guestLog) wazero.ModuleConfig {
	return wazero.NewModuleConfig().
		WithName("").
		WithStartFunctions().
		WithSysWalltime().
		WithSysNanotime().
		WithRandSource(rand.Reader).
		WithStdout(output).
		WithStderr(output)
}

func (in *instance) close(ctx context.Context) {
	// The context may be over; closing must happen all the same.
	_ = in.mod.Close(context.WithoutCancel(ctx))
}

// send copies a message into memory that the guest allocates for it.
func (in *instance) send(ctx context.Context, message []byte) (uint32, error) {
	in.stack[0] = uint64(uint32(len(message)))
	if err := in.alloc.CallWithStack(ctx, in.stack[:]); err != nil {
		return 0, fmt.Errorf("in alloc: %w", err)
	}
	ptr := uint32(in.stack[0])
	if ptr == 0 || !in.mod.Memory().Write(ptr, message) {
		return 0, abi.Errorf(abi.CodeProtocol, "alloc answered %#x for %d bytes, outside the memory of %d (is its limit of memory too small?)",
			ptr, len(message), in.mod.Memory().Size())
	}
	return ptr, nil
}

// exchange calls fn with a message and returns the guest's answer, a view of
// its memory.
func (in *instance) exchange(ctx context.Context, fn api.Function, ptr uint32, size int, limit int64) ([]byte, error) {
	in.stack[0], in.stack[1] = uint64(ptr), uint64(uint32(size))
	if err := fn.CallWithStack(ctx, in.stack[:]); err != nil {
		return nil, err
	}
	at, length := uint32(in.stack[0]>>32), uint32(in.stack[0])
	if int64(length) > limit {
		return nil, abi.Errorf(abi.CodeLimit, "the plugin answered %d bytes, over its limit output = %s", length, abi.Size(limit))
	}
	answer, ok := in.mod.Memory().Read(at, length)
	if !ok {
		return nil, abi.Errorf(abi.CodeProtocol, "the plugin answered with a pointer outside its memory: %d bytes at %#x of %d", length, at, in.mod.Memory().Size())
	}
	return answer, nil
}

// explain turns what ended a guest into an error that says whose doing it was.
func (m *module) explain(ctx context.Context, limits plugins.Limits, lastLog string, err error) error {
	cause := context.Cause(ctx)
	var known *abi.Error
	var exit *sys.ExitError
	switch {
	case errors.Is(cause, guestclock.ErrOutOfTime):
		return abi.Errorf(abi.CodeTimeout, "plugin %s ran longer than its limit of %s (limit time)", m.name, limits.Time)
	case cause != nil:
		if errors.As(cause, &known) {
			return known
		}
		if errors.Is(cause, context.DeadlineExceeded) {
			return abi.Errorf(abi.CodeTimeout, "the call ran into its time limit in plugin %s: %w", m.name, cause)
		}
		return abi.Errorf(abi.CodeCancelled, "the call was cancelled in plugin %s: %w", m.name, cause)
	case errors.As(err, &known):
		return &abi.Error{Code: known.Code, Message: fmt.Sprintf("plugin %s: %s", m.name, known.Message), Err: known}
	case errors.As(err, &exit):
		return abi.Errorf(abi.CodeTrap, "plugin %s exited with code %d before it answered%s", m.name, exit.ExitCode(), said(lastLog))
	}
	return abi.Errorf(abi.CodeTrap, "plugin %s trapped: %s%s", m.name, firstLine(err), said(lastLog))
}

func said(log string) string {
	if log == "" {
		return ""
	}
	return fmt.Sprintf(" (it last logged %q)", log)
}

// firstLine leaves out the guest's stack trace, which is for its author's log.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
