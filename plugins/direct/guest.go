package direct

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
)

// guest is one instance of a plugin. Its functions are looked up once: each
// look-up costs the engine more than a call does.
type guest struct {
	mod    api.Module
	memory api.Memory
	alloc  api.Function
	call   api.Function
	assess api.Function // nil until it is first asked
	stack  [2]uint64
	// message is room for the messages that it is sent, and then for what its
	// result names.
	message []byte
}

func bind(modules []api.Module) (*guest, error) {
	mod := modules[0]
	return &guest{
		mod:    mod,
		memory: mod.Memory(),
		alloc:  mod.ExportedFunction(abi.ExportAlloc),
		call:   mod.ExportedFunction(abi.ExportCall),
	}, nil
}

// start brings a new instance to where calls begin. Room for a message is asked
// for once and never used, so that what an allocator does first, such as growing
// the memory, is part of the start.
func (m *module) start(ctx context.Context, g *guest) error {
	if m.shape.initialize {
		if err := g.mod.ExportedFunction(abi.ExportInitialize).CallWithStack(ctx, nil); err != nil {
			return fmt.Errorf("in _initialize: %w", err)
		}
	}
	g.stack[0] = 1
	if err := g.alloc.CallWithStack(ctx, g.stack[:]); err != nil {
		return fmt.Errorf("in alloc: %w", err)
	}
	return nil
}

// maxRoom is the most room for messages that an instance keeps, in bytes.
const maxRoom = 64 << 10

// keep keeps the room that a message was written into.
func (g *guest) keep(room []byte) {
	if cap(room) <= maxRoom {
		g.message = room[:0]
	}
}

// send copies a message into memory that the guest allocates for it.
func (g *guest) send(ctx context.Context, message []byte) (uint32, error) {
	g.keep(message)
	g.stack[0] = uint64(uint32(len(message)))
	if err := g.alloc.CallWithStack(ctx, g.stack[:]); err != nil {
		return 0, fmt.Errorf("in alloc: %w", err)
	}
	ptr := uint32(g.stack[0])
	if ptr == 0 || !g.memory.Write(ptr, message) {
		return 0, abi.Errorf(abi.CodeProtocol, "alloc answered %#x for %d bytes, outside the memory of %d (is its limit of memory too small?)",
			ptr, len(message), g.memory.Size())
	}
	return ptr, nil
}

// ask sends a message to an export and returns the answer, a view of the
// guest's memory.
func (g *guest) ask(ctx context.Context, fn api.Function, message []byte, limit int64) ([]byte, error) {
	ptr, err := g.send(ctx, message)
	if err != nil {
		return nil, err
	}
	g.stack[0], g.stack[1] = uint64(ptr), uint64(uint32(len(message)))
	if err := fn.CallWithStack(ctx, g.stack[:]); err != nil {
		return nil, err
	}
	at, length := uint32(g.stack[0]>>32), uint32(g.stack[0])
	if int64(length) > limit {
		return nil, abi.Errorf(abi.CodeLimit, "the plugin answered %d bytes, over its limit output = %s", length, abi.Size(limit))
	}
	answer, ok := g.memory.Read(at, length)
	if !ok {
		return nil, abi.Errorf(abi.CodeProtocol, "the plugin answered with a pointer outside its memory: %d bytes at %#x of %d", length, at, g.memory.Size())
	}
	return answer, nil
}

// assessor is the guest's assess, which not every instance is asked.
func (g *guest) assessor() api.Function {
	if g.assess == nil {
		g.assess = g.mod.ExportedFunction(abi.ExportAssess)
	}
	return g.assess
}
