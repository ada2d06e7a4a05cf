package extism

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

//go:embed kernel/extism-runtime.wasm
var kernelWasm []byte

// The kernel's memory begins with its state, from which the host reads what a
// guest has set: fields of 64 bits, little endian, but for the first. Tests hold
// these places to what the kernel's own functions answer.
const (
	kernelStarted      = 1 // a byte, 1 once a guest or the host has used the kernel
	kernelSize         = 17
	kernelError        = 25
	kernelInputOffset  = 33
	kernelInputLength  = 41
	kernelOutputOffset = 49
	kernelOutputLength = 57
	kernelBlocks       = 65 // where blocks begin
)

// kernelFunctions are the kernel's exports that guests may import.
var kernelFunctions = []string{
	"alloc", "error_get", "error_set", "free", "input_length", "input_load_u64",
	"input_load_u8", "input_offset", "input_set", "length", "length_unsafe",
	"load_u64", "load_u8", "memory_bytes", "output_length", "output_offset",
	"output_set", "reset", "store_u64", "store_u8",
}

// slimKernel is the kernel with a memory of one page to begin with, where the
// linker gave it 16: that one page is what the kernel reckons with, and it grows
// the memory before it uses more. 15 pages less are cleared, and kept, for every
// instance. A guest could tell by storing outside of any block.
func slimKernel() ([]byte, [32]byte) {
	memory := []byte{5, 3, 1, 0, 16} // section memory, 3 bytes: one, without a maximum, 16 pages
	slim := bytes.Clone(kernelWasm)
	slim[bytes.Index(slim, memory)+len(memory)-1] = 1
	return slim, sha256.Sum256(slim)
}

// kernel is one instance of the kernel. Its functions are looked up when they
// are first needed: each look-up costs more than a call. What its memory says is
// the guest's word: a guest can write nearly all of it.
type kernel struct {
	mod                 api.Module
	memory              api.Memory
	alloc, free, length api.Function
	stack               [1]uint64
}

// errOutside is what go-sdk says of an offset outside of the kernel's memory.
var errOutside = errors.New("invalid memory block")

// invoke calls a function of the kernel's that takes one value.
func (k *kernel) invoke(ctx context.Context, f *api.Function, name string, arg uint64) (uint64, error) {
	if *f == nil {
		*f = k.mod.ExportedFunction(name)
	}
	k.stack[0] = arg
	if err := (*f).CallWithStack(ctx, k.stack[:]); err != nil {
		return 0, fmt.Errorf("in the kernel's %s: %w", name, err)
	}
	return k.stack[0], nil
}

// newBlock makes a block and returns its offset and its bytes, a view that the
// next call into the kernel may invalidate. The offset is 0 where there is no
// room, or no size.
func (k *kernel) newBlock(ctx context.Context, size uint64) (uint64, []byte, error) {
	offset, err := k.invoke(ctx, &k.alloc, "alloc", size)
	if err != nil || offset == 0 {
		return 0, nil, err
	}
	room, ok := k.memory.Read(uint32(offset), uint32(size))
	if !ok {
		return 0, nil, nil
	}
	return offset, room, nil
}

// block returns the bytes of the block at an offset, a view, as go-sdk reads
// them: where no block begins there are none, outside of the memory is an error.
func (k *kernel) block(ctx context.Context, offset uint64) ([]byte, error) {
	size, err := k.invoke(ctx, &k.length, "length", offset)
	if err != nil {
		return nil, err
	}
	b, ok := k.memory.Read(uint32(offset), uint32(size))
	if !ok {
		return nil, errOutside
	}
	return b, nil
}

func (k *kernel) release(ctx context.Context, offset uint64) error {
	_, err := k.invoke(ctx, &k.free, "free", offset)
	return err
}

// setInput puts a call's input into the memory of a kernel nobody used before.
// It reports whether there was room.
func (k *kernel) setInput(ctx context.Context, input []byte) (bool, error) {
	if len(input) == 0 {
		return true, nil
	}
	offset, room, err := k.newBlock(ctx, uint64(len(input)))
	if err != nil || offset == 0 {
		return false, err
	}
	copy(room, input)
	return k.memory.WriteUint64Le(kernelInputOffset, offset) &&
		k.memory.WriteUint64Le(kernelInputLength, uint64(len(input))), nil
}

// output returns what the guest set as its output, a view.
func (k *kernel) output() []byte {
	state := k.state()
	out, _ := k.memory.Read(
		uint32(binary.LittleEndian.Uint64(state[kernelOutputOffset:])),
		uint32(binary.LittleEndian.Uint64(state[kernelOutputLength:])))
	return out
}

// failure returns what the guest set as its error, a view; nil for none.
func (k *kernel) failure(ctx context.Context) ([]byte, error) {
	offset := binary.LittleEndian.Uint64(k.state()[kernelError:])
	if offset == 0 {
		return nil, nil
	}
	text, err := k.block(ctx, offset)
	if errors.Is(err, errOutside) {
		return nil, nil
	}
	return text, err
}

// used reports whether anything has used the kernel.
func (k *kernel) used() bool { return k.state()[kernelStarted] != 0 }

func (k *kernel) state() []byte {
	state, _ := k.memory.Read(0, kernelBlocks) // it has a page at least
	return state
}
