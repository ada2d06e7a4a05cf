package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/abi"
)

// maxMemoryPages is the largest memory, in pages of 64 KiB, that modules are
// compiled for: 2 GiB, so that no pointer plus length overflows. Each module's
// own limit is lower and held by its allocator.
const maxMemoryPages = 1 << 15

// configuration is that of every runtime: compiled code is shared between them
// through the cache. It has no check for cancellation of wazero's own, which
// sees loops only and slows them 7 to 25 times; fuel is what stops a guest.
func configuration() wazero.RuntimeConfig {
	settleVersion()
	return wazero.NewRuntimeConfig().
		WithCloseOnContextDone(false).
		WithMemoryLimitPages(maxMemoryPages).
		WithDebugInfoEnabled(false)
}

// settleVersion has wazero look up its own version, which it keeps in a variable that
// nothing guards: engines of two hosts may open at once. A directory that cannot be made
// is the way to that which does nothing else.
var settleVersion = sync.OnceFunc(func() { _, _ = wazero.NewCompilationCacheWithDir("\x00") })

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

// CompileInto compiles a module, as the pre-pass wrote it, into dir, which must
// be empty and the caller's own, with the configuration of every [Engine]. It is
// for processes that compile on behalf of another; see [plugins.Compiler].
// Errors are *abi.Error of [abi.CodeLoad].
func CompileInto(ctx context.Context, dir string, wasm []byte) (err error) {
	settleVersion()
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
