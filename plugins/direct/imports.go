package direct

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
)

// The functions of abi.ImportModule, as package abi documents them. Each finds
// the call it serves in the context that wazero hands it.

// maxRequest bounds what a guest can hand to one submit, in bytes.
const maxRequest = 16 << 20

// hostFunctions are those of abi.ImportModule.
var hostFunctions = map[string]api.GoModuleFunc{
	abi.ImportSubmit:   submit,
	abi.ImportWait:     wait,
	abi.ImportRead:     read,
	abi.ImportCancel:   cancel,
	abi.ImportProgress: progress,
}

// defineHost defines abi.ImportModule in the runtime.
func defineHost(b wazero.HostModuleBuilder) {
	for name, f := range hostFunctions {
		s := imports[name]
		b.NewFunctionBuilder().WithGoModuleFunction(f, s.Params, s.Results).Export(name)
	}
}

func submit(ctx context.Context, mod api.Module, stack []uint64) {
	c := serving(ctx)
	if c == nil || c.do == nil {
		violate("called submit where no capability is offered: in a start function or in assess")
	}
	ptr, size := uint32(stack[0]), uint32(stack[1])
	c.Tick(int(size))
	if size > maxRequest {
		violate("submitted a request of %d bytes, over the limit of %d", size, maxRequest)
	}
	request, err := abi.DecodeRequest(view(mod, abi.ImportSubmit, ptr, size))
	if err != nil {
		violate("submitted a broken request: %v", err)
	}
	// The rest was copied already. The guest goes on while the request is served.
	for i := range request.Parts {
		request.Parts[i].Data = bytes.Clone(request.Parts[i].Data)
	}
	stack[0] = uint64(c.begin(request, int(size)))
}

func wait(ctx context.Context, mod api.Module, stack []uint64) {
	c := serving(ctx)
	if c == nil {
		violate("called wait outside a call")
	}
	ptr, count := uint32(stack[0]), uint32(stack[1])
	c.Tick(int(min(count, abi.MaxWait)) * max(len(c.handles), 1)) // each id is looked for
	if count == 0 || count > abi.MaxWait {
		violate("called wait for %d ids; 1 to %d are possible", count, abi.MaxWait)
	}
	ids := view(mod, abi.ImportWait, ptr, 4*count)
	var few [4]*handle
	waiting := few[:0]
	for ; len(ids) > 0; ids = ids[4:] {
		waiting = append(waiting, c.handle(abi.ImportWait, binary.LittleEndian.Uint32(ids)))
	}
	index := c.awaitAny(ctx, waiting)
	ready := min(waiting[index].ready(), math.MaxInt32)
	stack[0] = uint64(ready)<<32 | uint64(index)
}

func read(ctx context.Context, mod api.Module, stack []uint64) {
	c := serving(ctx)
	if c == nil {
		violate("called read outside a call")
	}
	id, ptr, size := uint32(stack[0]), uint32(stack[1]), uint32(stack[2])
	c.Tick(int(size))
	h := c.handle(abi.ImportRead, id)
	room := view(mod, abi.ImportRead, ptr, min(size, math.MaxInt32))
	c.await(ctx, h)
	if len(room) == 0 {
		stack[0] = 0
		return
	}
	n, err := h.read(ctx, room)
	if n > 0 {
		stack[0] = uint64(n) // an error is kept for the next read
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

func cancel(ctx context.Context, _ api.Module, stack []uint64) {
	c := serving(ctx)
	if c == nil {
		violate("called cancel outside a call")
	}
	id := uint32(stack[0])
	c.Tick(0)
	if id == 0 || id > c.lastID {
		violate("named the capability call %d in cancel, which was never made", id)
	}
	c.drop(id) // one that is freed already is left alone
}

func progress(ctx context.Context, mod api.Module, stack []uint64) {
	c := serving(ctx)
	if c == nil {
		return // a start function has nobody to report to
	}
	ptr, size := uint32(stack[0]), uint32(stack[1])
	c.Tick(int(size))
	message := view(mod, abi.ImportProgress, ptr, size)
	if size > abi.MaxReport {
		violate("reported %d bytes of progress at once, over the limit of %d", size, abi.MaxReport)
	}
	c.reported(message)
}
