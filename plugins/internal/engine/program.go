package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

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
	re, err := e.ready(ctx, &s)
	if err != nil {
		return nil, err
	}
	defer re.close()
	collect(len(re.skeleton.b) + len(re.wasm.b)) // the engine makes a copy of its own
	// The result is shared, so that it is not bound to the call that happens to
	// be the first.
	shared := context.WithoutCancel(ctx)
	compiled, err := e.load(shared, re)
	if err != nil && e.cache != nil && e.discard(re, err) {
		// Either the module or what the cache holds of it is broken. Without its
		// entry only the module can be, or its compiler.
		if err = e.compileAgain(ctx, s, re); err == nil {
			compiled, err = e.load(shared, re)
		}
		if err != nil {
			e.cache.purge(re.hash)
		}
	}
	if err != nil {
		return nil, notCompiling(err)
	}
	return &Program{Compiled: compiled, Facts: re.facts}, nil
}

// discard deletes what the cache holds of a module that could not be loaded, and
// reports whether that may be why.
func (e *Engine) discard(re *rewritten, why error) bool {
	gone := errors.Is(why, errNoCode) // it may have been for another processor
	purged := e.cache.purge(re.hash)
	if purged && !gone {
		e.opts.Logger.Warn("a damaged entry of the compile cache was deleted; the module is compiled again", "reason", FirstLine(why))
	}
	return purged || gone
}

// CheckSize refuses a module of size bytes where that is over the limit.
func CheckSize(size, limit int) error {
	if size <= limit {
		return nil
	}
	return abi.Errorf(abi.CodeLoad, "the module is refused: it has %s, over the host's limit of %s; strip what it carries for debugging, or keep its data in files",
		abi.Size(int64(size)), abi.Size(int64(limit)))
}

var errNoCode = abi.Errorf(abi.CodeLoad, "the compiled module is not in the cache; its compiler may be for another processor, or the cache was emptied meanwhile")

// load takes a module's code from the cache, or compiles it where there is no cache.
//
// With a cache the runtime is shown the module's skeleton alone, for which the code
// lies there: see [prepass.Module.AppendSkeleton]. It must not compile that itself,
// where the code turns out to be missing: see fetch.
func (e *Engine) load(ctx context.Context, re *rewritten) (wazero.CompiledModule, error) {
	if e.cache == nil {
		return compileModule(ctx, e.runtime, re.wasm.b)
	}
	return fetch(ctx, e.runtime, re.skeleton.b)
}

// fetch takes code from the runtime's cache and compiles none. Among several workers,
// and only there, wazero looks at the context, which is over from the start. Its
// interpreter, which it takes to by itself where memory cannot be made executable,
// looks at neither, so that a runtime must be one that keepsToCache.
func fetch(ctx context.Context, r wazero.Runtime, wasm []byte) (wazero.CompiledModule, error) {
	over, end := context.WithCancelCause(experimental.WithCompilationWorkers(ctx, 2))
	end(errNoCode)
	return compileModule(over, r, wasm)
}

// keeps says whether the runtimes of this process keep to the cache. It asks once: what
// it takes to find out is not given back.
var keeps = sync.OnceValue(func() bool { return keepsToCache(configuration()) })

// nothing is a module with a function that does nothing. No cache holds its code.
var nothing = []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x0b")

// keepsToCache reports whether fetch keeps its word with runtimes of a configuration.
func keepsToCache(config wazero.RuntimeConfig) bool {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer func() { _ = r.Close(ctx) }() // it holds nothing
	_, err := fetch(ctx, r, nothing)
	return errors.Is(err, errNoCode)
}

// compileModule has a runtime compile a module. The pre-pass refuses the modules
// that its validation is known to panic on; were there another, it must not end the
// host.
func compileModule(ctx context.Context, r wazero.Runtime, wasm []byte) (compiled wazero.CompiledModule, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the compiler panicked: %v", p)
		}
	}()
	return r.CompileModule(ctx, wasm)
}

// elsewhere reports whether a module is compiled by another process.
func (e *Engine) elsewhere(s *Source) bool { return e.opts.Compiler != nil && !s.Trusted }

// ready returns a module as the pre-pass writes it, once the cache holds its
// code. It lets go of the module as it came.
func (e *Engine) ready(ctx context.Context, s *Source) (*rewritten, error) {
	if re := e.known(s); re != nil {
		return re, nil
	}
	leave, err := e.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if re := e.known(s); re != nil {
		return re, nil // compiled while we waited
	}
	key := s.key()
	re, err := e.rewrite(s)
	if err != nil {
		return nil, err
	}
	if err := e.prepare(ctx, *s, re); err != nil {
		re.close()
		return nil, err
	}
	if e.cache != nil {
		e.cache.keepRewritten(key, re)
		re.wasm.close()
	}
	return re, nil
}

// known returns what the cache holds of a module, if it has both the code and
// what the pre-pass wrote: rewriting a module costs a short process more than
// reading it back does.
func (e *Engine) known(s *Source) *rewritten {
	if e.cache == nil {
		return nil
	}
	re := e.cache.rewritten(s.key())
	switch {
	case re == nil:
		return nil
	case !e.cache.has(re.hash):
		re.close()
		return nil
	}
	s.Wasm = nil
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

// compileAgain compiles a module whose entry was deleted.
func (e *Engine) compileAgain(ctx context.Context, s Source, re *rewritten) error {
	leave, err := e.turn(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if re.wasm.b == nil {
		if re.wasm, err = e.cache.whole(s.key()); err != nil {
			return err
		}
	}
	return e.prepare(ctx, s, re)
}

// prepare sees to it that the cache holds the module's code.
func (e *Engine) prepare(ctx context.Context, s Source, re *rewritten) error {
	elsewhere := e.elsewhere(&s)
	if e.cache == nil {
		if elsewhere {
			return abi.Errorf(abi.CodeLoad, "the module cannot be compiled: it is not the host's own, and there is no directory to compile it into; give the host a cache directory")
		}
		return nil
	}
	if e.cache.has(re.hash) {
		return nil
	}
	return e.cache.fill(re, func(dir string) error {
		if elsewhere {
			return e.opts.Compiler.Compile(ctx, dir, re.wasm.b)
		}
		return CompileInto(context.WithoutCancel(ctx), dir, re.wasm.b)
	})
}

// muchGarbage is from how much garbage on it is worth a collection of its own, in
// bytes.
const muchGarbage = 4 << 20

// collect gives back to the system what was left over from a piece of work on
// size bytes, before the next one takes as much again. It takes some milliseconds
// where loading so large a module takes a hundred or more.
func collect(size int) {
	if size > muchGarbage {
		debug.FreeOSMemory()
	}
}

// CompileInto compiles a module, as the pre-pass wrote it, into dir, which must
// be empty and the caller's own, with the configuration of every [Engine]. It is
// for processes that compile on behalf of another; see [plugins.Compiler].
// Errors are *abi.Error of [abi.CodeLoad].
func CompileInto(ctx context.Context, dir string, wasm []byte) (err error) {
	files, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return abi.Errorf(abi.CodeLoad, "the module cannot be compiled: %w", err)
	}
	r := wazero.NewRuntimeWithConfig(ctx, configuration().WithCompilationCache(files))
	defer func() {
		if closing := errors.Join(r.Close(ctx), files.Close(ctx)); err == nil && closing != nil {
			err = abi.Errorf(abi.CodeLoad, "the module cannot be compiled: %w", closing)
		}
	}()
	if _, err := compileModule(ctx, r, wasm); err != nil {
		return notCompiling(err)
	}
	return nil
}

func notCompiling(err error) error {
	if known, ok := errors.AsType[*abi.Error](err); ok {
		return known
	}
	return abi.Errorf(abi.CodeLoad, "the module does not compile: %s", FirstLine(err))
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
