package regexp

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// instance is one guest. Its functions are looked up once.
type instance struct {
	memory                      api.Memory
	window, compile, find, list api.Function
	tabulate                    api.Function
	at, size, spans             uint32 // of the window; where find leaves what it found
	facts                       pattern.Facts
	stack                       [4]uint64
	found                       []pattern.Span
}

func bind(modules []api.Module) (*instance, error) {
	m := modules[0]
	return &instance{
		memory: m.Memory(),
		window: m.ExportedFunction("window"), compile: m.ExportedFunction("compile"), find: m.ExportedFunction("find"), list: m.ExportedFunction("spans"),
		tabulate: m.ExportedFunction("table"),
	}, nil
}

// call calls a function of the guest's.
func (in *instance) call(ctx context.Context, f api.Function, args ...uint32) (uint64, error) {
	for i, a := range args {
		in.stack[i] = uint64(a)
	}
	err := f.CallWithStack(ctx, in.stack[:])
	return in.stack[0], err
}

var errWindow = errors.New("there is no memory for the text")

// errSpan is a guest that breaks its word: what it found is not in the text.
var errSpan = errors.New("the engine found something outside of the text")

// room returns the window, which it makes larger where it has to.
func (in *instance) room(ctx context.Context, size int) ([]byte, error) {
	if uint32(size) > in.size {
		at, err := in.call(ctx, in.window, uint32(size))
		if err == nil && at == 0 {
			err = errWindow
		}
		if err != nil {
			return nil, err
		}
		in.at, in.size = uint32(at), uint32(size)
	}
	// The memory may have grown, and moved, since it was last looked at.
	b, ok := in.memory.Read(in.at, in.size)
	if !ok {
		return nil, errWindow
	}
	return b, nil
}

// matches has the guest find matches, and reads them.
func (in *instance) matches(ctx context.Context, from, to, most int) ([]pattern.Span, error) {
	n, err := in.call(ctx, in.find, uint32(from), uint32(to), uint32(most))
	if err != nil || n == 0 {
		return nil, err
	}
	const size = 8
	b, ok := in.memory.Read(in.spans, uint32(n)*size)
	if !ok {
		return nil, errWindow
	}
	in.found = in.found[:0]
	for last := uint32(from); len(b) > 0; b = b[size:] {
		span := pattern.Span{Start: binary.LittleEndian.Uint32(b), End: binary.LittleEndian.Uint32(b[4:])}
		if span.Start < last || span.End < span.Start || span.End > uint32(to) {
			return nil, errSpan
		}
		last = span.End
		in.found = append(in.found, span)
	}
	return in.found, nil
}

// explain says why a guest stopped.
func (in *instance) explain(run *engine.Run, err error) error {
	switch over := run.Over(); {
	case errors.Is(over, engine.ErrOutOfTime):
		return abi.Errorf(abi.CodeInvalidInput, "the pattern takes too long to compile; repeat less, or name fewer characters")
	case over != nil:
		return interrupted(over)
	case errors.Is(err, engine.ErrOutOfStack):
		return abi.Errorf(abi.CodeInvalidInput, "the pattern nests too deep")
	case errors.Is(err, errWindow), in.memory.Size() > MaxMemory/2: // what grows doubles
		return abi.Errorf(abi.CodeInvalidInput, "the pattern needs too much memory, over %s; repeat less: %w", abi.Size(MaxMemory), err)
	}
	return abi.Errorf(abi.CodeInternal, "the engine for regular expressions failed: %w", err)
}

// outside is the error of an answer that is not in the guest's memory.
func outside(size uint32) error {
	return abi.Errorf(abi.CodeInternal, "the engine for regular expressions answers with %d bytes outside its memory", size)
}

// interrupted is the error of a search whose context has ended.
func interrupted(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return abi.Errorf(abi.CodeTimeout, "the time was up before the search was done: %w", err)
	}
	return abi.Errorf(abi.CodeCancelled, "the search was cancelled: %w", err)
}
