package engine

import (
	"context"
	"errors"

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
	key := s.key()
	re, err := e.ready(ctx, key, &s)
	if err != nil {
		return nil, err
	}
	defer re.close()
	collect(len(re.wasm.b)) // the engine makes a copy of its own
	// The result is shared, so that it is not bound to the call that happens to
	// be the first.
	shared := context.WithoutCancel(ctx)
	compiled, err := e.load(shared, key, re)
	if err != nil && e.cache != nil {
		// Either the module or what the cache holds of it is broken. Compiled again
		// only the module can be, or its compiler.
		if !errors.Is(err, errNoCode) { // it may have been for another processor
			e.opts.Logger.Warn("a damaged entry of the compile cache was deleted; the module is compiled again", "reason", FirstLine(err))
		}
		if err = e.compileAgain(ctx, key, s, re); err == nil {
			compiled, err = e.load(shared, key, re)
		}
		if err != nil {
			e.cache.purge(key)
		}
	}
	if err != nil {
		return nil, notCompiling(err)
	}
	return &Program{Compiled: compiled, Facts: re.facts}, nil
}

// CheckSize refuses a module of size bytes where that is over the limit.
func CheckSize(size, limit int) error {
	if size <= limit {
		return nil
	}
	return abi.Errorf(abi.CodeLoad, "the module is refused: it has %s, over the host's limit of %s; strip what it carries for debugging, or keep its data in files",
		abi.Size(int64(size)), abi.Size(int64(limit)))
}

// load takes a module's code from the cache, or compiles it where there is no cache.
func (e *Engine) load(ctx context.Context, key [32]byte, re *rewritten) (wazero.CompiledModule, error) {
	if e.cache == nil {
		return compileModule(ctx, e.runtime, re.wasm.b)
	}
	return e.cache.load(ctx, e.runtime, key, re)
}

// elsewhere reports whether a module is compiled by another process.
func (e *Engine) elsewhere(s *Source) bool { return e.opts.Compiler != nil && !s.Trusted }

// ready returns a module as the pre-pass writes it, once the cache holds its
// code. It lets go of the module as it came.
func (e *Engine) ready(ctx context.Context, key [32]byte, s *Source) (*rewritten, error) {
	if re := e.known(key, s); re != nil {
		return re, nil
	}
	leave, err := e.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if re := e.known(key, s); re != nil {
		return re, nil // compiled while we waited
	}
	re, err := e.rewrite(s)
	if err != nil {
		return nil, err
	}
	if err := e.prepare(ctx, key, *s, re); err != nil {
		re.close()
		return nil, err
	}
	return re, nil
}

// known returns what the cache holds of a module: rewriting it costs a short process
// more than reading it back does.
func (e *Engine) known(key [32]byte, s *Source) *rewritten {
	if e.cache == nil {
		return nil
	}
	re := e.cache.known(key)
	if re != nil {
		s.Wasm = nil
	}
	return re
}

// turn waits until another module may be rewritten and compiled. Modules that
// wait are held as they came only.
func (e *Engine) turn(ctx context.Context) (leave func(), err error) {
	select {
	case e.compiling <- struct{}{}:
	case <-ctx.Done():
		return nil, interrupted(ctx)
	}
	leave = func() { <-e.compiling }
	if ctx.Err() != nil {
		leave()
		return nil, interrupted(ctx)
	}
	return leave, nil
}

// compileAgain compiles a module whose code could not be loaded.
func (e *Engine) compileAgain(ctx context.Context, key [32]byte, s Source, re *rewritten) error {
	leave, err := e.turn(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e.cache.purge(key)
	return e.prepare(ctx, key, s, re)
}

// prepare has the module compiled into the cache.
func (e *Engine) prepare(ctx context.Context, key [32]byte, s Source, re *rewritten) error {
	elsewhere := e.elsewhere(&s)
	if e.cache == nil {
		if elsewhere {
			return abi.Errorf(abi.CodeLoad, "the module cannot be compiled: it is not the host's own, and there is no directory to compile it into; give the host a cache directory")
		}
		return nil
	}
	return e.cache.fill(key, re, func(dir string) error {
		if elsewhere {
			return e.opts.Compiler.Compile(ctx, dir, re.wasm.b)
		}
		return CompileInto(context.WithoutCancel(ctx), dir, re.wasm.b)
	})
}

// interrupted is the error of what was given up because ctx is over.
func interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	var known *abi.Error
	switch {
	case errors.As(cause, &known):
		return known
	case errors.Is(cause, context.DeadlineExceeded):
		return abi.Errorf(abi.CodeTimeout, "compiling the module ran into the time limit: %w", cause)
	}
	return abi.Errorf(abi.CodeCancelled, "compiling the module was cancelled: %w", cause)
}
