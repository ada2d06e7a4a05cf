package direct

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// maxMemoryPages is the largest memory, in pages of 64 KiB, that the shared
// runtime compiles for: 2 GiB, so that no pointer plus length overflows. Each
// plugin's own limit is lower and held by its allocator.
const maxMemoryPages = 1 << 15

// Options configure a [Runner]. The zero value is useful.
type Options struct {
	// CacheDir holds compiled code between processes. It is made with mode
	// 0700 where it is missing. Empty, or a directory that others could write
	// to, means no cache.
	CacheDir string
	// Ahead bounds the instances a plugin keeps ready; 0 is twice the number of
	// processors, -1 none.
	Ahead int
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// Runner runs direct-ABI modules. It implements [plugins.Runner].
type Runner struct {
	opts  Options
	start sync.Once
	fail  error

	runtime wazero.Runtime
	cache   *cache
	wasi    sync.Mutex // guards linking WASI, which only some guests need
	linked  bool
}

var _ plugins.Runner = (*Runner)(nil)

// New returns a runner. It starts nothing: the runtime comes up with the first
// module.
func New(o Options) *Runner {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Runner{opts: o}
}

// ABI is abi.ABIDirect.
func (r *Runner) ABI() string { return abi.ABIDirect }

// interruptible arms the one means by which a running guest can be stopped. It
// is wazero's own check, at function entries and loop heads.
func interruptible(c wazero.RuntimeConfig) wazero.RuntimeConfig {
	return c.WithCloseOnContextDone(true)
}

// open brings up the shared runtime.
func (r *Runner) open(ctx context.Context) error {
	r.start.Do(func() {
		config := interruptible(wazero.NewRuntimeConfig()).
			WithMemoryLimitPages(maxMemoryPages).
			WithDebugInfoEnabled(false)
		r.cache = openCache(r.opts.CacheDir, r.opts.Logger)
		if r.cache != nil {
			config = config.WithCompilationCache(r.cache.wazero)
		}
		r.runtime = wazero.NewRuntimeWithConfig(ctx, config)
		r.fail = linkHost(ctx, r.runtime)
	})
	return r.fail
}

// needWASI links WASI once, when the first module imports it: its forty-odd
// functions are a millisecond that most processes need not spend.
func (r *Runner) needWASI(ctx context.Context) error {
	r.wasi.Lock()
	defer r.wasi.Unlock()
	if r.linked {
		return nil
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r.runtime); err != nil {
		return abi.Errorf(abi.CodeInternal, "linking WASI: %w", err)
	}
	r.linked = true
	return nil
}

// Load compiles m, or takes it from the cache, and checks that it speaks the
// ABI. It runs none of it.
func (r *Runner) Load(ctx context.Context, m plugins.Module) (plugins.Instance, error) {
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	// Compiling is not interruptible and its result is shared, so it is not
	// bound to the call that happens to be the first.
	ctx = context.WithoutCancel(ctx)
	compiled, err := r.compile(ctx, m)
	if err != nil {
		return nil, err
	}
	shape, err := checkShape(compiled, m.Limits.Memory)
	if err == nil && shape.wasi {
		err = r.needWASI(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, compiled.Close(ctx))
	}
	return newModule(r, m, compiled, shape), nil
}

func (r *Runner) compile(ctx context.Context, m plugins.Module) (wazero.CompiledModule, error) {
	if r.cache == nil {
		return r.compileOnce(ctx, m)
	}
	entry := r.cache.verify(m.Hash)
	if entry.File == "" {
		r.cache.cold.Lock()
		defer r.cache.cold.Unlock()
		defer r.cache.record(m.Hash)
	}
	compiled, err := r.compileOnce(ctx, m)
	if err == nil {
		return compiled, nil
	}
	// Either the module or what the cache holds of it is broken. Without its
	// entry only the module can be.
	if r.cache.purge(entry) {
		return r.compileOnce(ctx, m)
	}
	return nil, err
}

func (r *Runner) compileOnce(ctx context.Context, m plugins.Module) (wazero.CompiledModule, error) {
	compiled, err := r.runtime.CompileModule(ctx, m.Wasm)
	if err != nil {
		return nil, abi.Errorf(abi.CodeLoad, "the module does not compile: %s", firstLine(err))
	}
	return compiled, nil
}

// Close frees the runtime. Modules loaded from it must be closed before.
func (r *Runner) Close(ctx context.Context) error {
	r.start.Do(func() { r.fail = abi.Errorf(abi.CodeInternal, "the runner is closed") })
	if r.runtime == nil {
		return nil
	}
	err := r.runtime.Close(ctx)
	if r.cache != nil {
		err = errors.Join(err, r.cache.wazero.Close(ctx))
	}
	return err
}
