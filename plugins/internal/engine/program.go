package engine

import (
	"context"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// Source is a module as it came.
type Source struct {
	// Hash is the SHA-256 of Wasm.
	Hash [32]byte
	Wasm []byte
	// Trusted modules come with the host and are compiled in its process.
	Trusted bool
	// MaxMemory bounds linear memory, in bytes.
	MaxMemory int64
	// Rename, if not nil, gives imports other names, as in [prepass.Options].
	// RenameID names what it does, such as "extism/1": it is part of the key
	// under which the result is cached.
	Rename   func(module, name string) (newModule, newName string)
	RenameID string
	// Reentrant is as in [prepass.Options].
	Reentrant bool
}

// Program is a compiled module.
type Program struct {
	// Compiled is for reading imports and exports. Instances are made by a
	// [Pool].
	Compiled wazero.CompiledModule
	// Facts are what the pre-pass found.
	Facts prepass.Facts
}

// Close frees the code, after the pools that use it.
func (p *Program) Close(ctx context.Context) error { return p.Compiled.Close(ctx) }

// Compile rewrites a module and compiles it, or takes it from the cache. It runs
// none of it. A module that is not trusted is compiled by Options.Compiler,
// which stops when ctx ends; what is compiled in this process cannot be
// interrupted. Errors are *abi.Error, of [abi.CodeLoad] where the module is at
// fault.
func (e *Engine) Compile(ctx context.Context, s Source) (*Program, error) {
	if err := CheckSize(len(s.Wasm), e.opts.MaxModule); err != nil && !s.Trusted {
		return nil, err
	}
	if err := e.open(ctx); err != nil {
		return nil, err
	}
	return e.loader.program(ctx, &s)
}

// CheckSize refuses a module of size bytes where that is over the limit.
func CheckSize(size, limit int) error {
	if size <= limit {
		return nil
	}
	return abi.Errorf(abi.CodeLoad, "the module is refused: it has %s, over the host's limit of %s; strip what it carries for debugging, or keep its data in files",
		abi.Size(int64(size)), abi.Size(int64(limit)))
}
