package engine

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/tempdir"
)

// maxCompiling bounds the modules that are compiled at once: each takes a
// processor, and memory that is a hundred times its size.
const maxCompiling = 2

// loader gets the code of modules: from the cache, or compiled here or by another process.
type loader struct {
	opts      *Options
	runtime   wazero.Runtime
	cache     *cache       // nil for none
	temporary *tempdir.Dir // with the cache of this process alone, nil for none
	compiling chan struct{}
}

// open opens the cache on disk. A compiler in another process can hand over
// its work through one only, so without it there is one for this process.
func (l *loader) open() {
	l.cache = openCache(l.opts.CacheDir, l.opts.Logger)
	if l.cache != nil || l.opts.Compiler == nil {
		return
	}
	dir, err := tempdir.Make()
	if err != nil {
		l.opts.Logger.Warn("no directory for compiled code; only modules of the host's own can be loaded", "reason", err)
		return
	}
	l.temporary = dir
	l.cache = openCache(filepath.Join(dir.Path, "compiled"), l.opts.Logger)
}

// close gives up the cache.
func (l *loader) close(ctx context.Context) (err error) {
	if l.cache != nil {
		err = l.cache.close(ctx)
	}
	if l.temporary != nil {
		err = errors.Join(err, l.temporary.Close())
	}
	return err
}

// program compiles a module or takes it from the cache: see [Engine.Compile]. It drops
// the original module.
func (l *loader) program(ctx context.Context, s *Source) (*Program, error) {
	key := s.key()
	re, err := l.ready(ctx, key, s)
	if err != nil {
		return nil, err
	}
	defer re.close()
	collect(len(re.wasm.b)) // the engine makes a copy of its own
	// The result is shared, so that it is not bound to the call that happens to
	// be the first.
	shared := context.WithoutCancel(ctx)
	compiled, err := l.load(shared, key, re)
	if err != nil && l.cache != nil {
		// Either the module or what the cache holds of it is broken. Compiled again
		// only the module can be, or its compiler.
		if !errors.Is(err, errNoCode) { // it may have been for another processor
			l.opts.Logger.Warn("a damaged entry of the compile cache was deleted; the module is compiled again", "reason", FirstLine(err))
		}
		if err = l.compileAgain(ctx, key, *s, re); err == nil {
			compiled, err = l.load(shared, key, re)
		}
		if err != nil {
			l.cache.purge(key)
		}
	}
	if err != nil {
		return nil, notCompiling(err)
	}
	return &Program{Compiled: compiled, Facts: re.facts}, nil
}

// load takes a module's code from the cache, or compiles it where there is no cache.
func (l *loader) load(ctx context.Context, key [32]byte, re *rewritten) (wazero.CompiledModule, error) {
	if l.cache == nil {
		return compileModule(ctx, l.runtime, re.wasm.b)
	}
	return l.cache.load(ctx, l.runtime, key, re)
}

// elsewhere reports whether a module is compiled by another process.
func (l *loader) elsewhere(s *Source) bool { return l.opts.Compiler != nil && !s.Trusted }

// ready returns a module as the pre-pass writes it, once the cache holds its
// code. It drops the original module.
func (l *loader) ready(ctx context.Context, key [32]byte, s *Source) (*rewritten, error) {
	if re := l.known(key, s); re != nil {
		return re, nil
	}
	leave, err := l.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if re := l.known(key, s); re != nil {
		return re, nil // compiled while we waited
	}
	re, err := l.rewrite(s)
	if err != nil {
		return nil, err
	}
	if err := l.prepare(ctx, key, *s, re); err != nil {
		re.close()
		return nil, err
	}
	return re, nil
}

// known returns what the cache holds of a module: rewriting it costs a short process
// more than reading it back does.
func (l *loader) known(key [32]byte, s *Source) *rewritten {
	if l.cache == nil {
		return nil
	}
	re := l.cache.known(key)
	if re != nil {
		s.Wasm = nil
	}
	return re
}

// turn waits until another module may be rewritten and compiled. Modules that
// wait are held as they came only.
func (l *loader) turn(ctx context.Context) (leave func(), err error) {
	select {
	case l.compiling <- struct{}{}:
	case <-ctx.Done():
		return nil, interrupted(ctx)
	}
	leave = func() { <-l.compiling }
	if ctx.Err() != nil {
		leave()
		return nil, interrupted(ctx)
	}
	return leave, nil
}

// compileAgain compiles a module whose code could not be loaded.
func (l *loader) compileAgain(ctx context.Context, key [32]byte, s Source, re *rewritten) error {
	leave, err := l.turn(ctx)
	if err != nil {
		return err
	}
	defer leave()
	l.cache.purge(key)
	return l.prepare(ctx, key, s, re)
}

// prepare has the module compiled into the cache.
func (l *loader) prepare(ctx context.Context, key [32]byte, s Source, re *rewritten) error {
	elsewhere := l.elsewhere(&s)
	if l.cache == nil {
		if elsewhere {
			return abi.Errorf(abi.CodeLoad, "the module cannot be compiled: it is not the host's own, and there is no directory to compile it into; give the host a cache directory")
		}
		return nil
	}
	return l.cache.fill(key, re, func(dir string) error {
		if elsewhere {
			return l.opts.Compiler.Compile(ctx, dir, re.wasm.b)
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
