package direct

import (
	"context"
	"errors"
	"log/slog"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// Options configure a [Runner]. The zero value is useful.
type Options struct {
	// CacheDir holds compiled code between processes. It is made with mode
	// 0700 where it is missing. Empty, or a directory that others could write
	// to, means no cache.
	CacheDir string
	// Compiler compiles modules that are not trusted; nil compiles them in this
	// process, where a hostile one can neither be interrupted nor be kept from
	// using memory.
	Compiler plugins.Compiler
	// Ahead bounds the instances a plugin keeps ready; 0 is twice the number of
	// processors, -1 none.
	Ahead int
	// IdleMemory bounds the memory of instances that are kept ready, of all
	// plugins together, in bytes; 0 is 256 MiB.
	IdleMemory int64
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// Runner runs direct-ABI modules. It implements [plugins.Runner].
type Runner struct{ engine *engine.Engine }

var (
	_ plugins.Runner  = (*Runner)(nil)
	_ plugins.Checker = (*Runner)(nil)
)

// New returns a runner. It starts nothing: the runtime comes up with the first
// module.
func New(o Options) *Runner {
	return &Runner{engine: engine.New(engine.Options{
		CacheDir:   o.CacheDir,
		Compiler:   o.Compiler,
		Ahead:      o.Ahead,
		IdleMemory: o.IdleMemory,
		Logger:     o.Logger,
	})}
}

// ABI is abi.ABIDirect.
func (r *Runner) ABI() string { return abi.ABIDirect }

// Load compiles m, or takes it from the cache, and checks that it speaks the
// ABI. It runs none of it.
func (r *Runner) Load(ctx context.Context, m plugins.Module) (plugins.Instance, error) {
	source := sourceOf(&m)
	m.Wasm = nil // the engine lets go of it as soon as it can
	program, err := r.engine.Compile(ctx, source)
	if err != nil {
		return nil, err
	}
	// What follows is quick and leaves nothing half done.
	ctx = context.WithoutCancel(ctx)
	shape, err := checkShape(program.Interface())
	if err == nil {
		err = r.engine.Link(ctx, abi.ImportModule, defineHost)
	}
	if err == nil && shape.wasi {
		err = r.engine.LinkWASI(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, program.Close(ctx))
	}
	return newModule(r.engine, m, program, shape), nil
}

func sourceOf(m *plugins.Module) engine.Source {
	return engine.Source{Hash: m.Hash, Wasm: m.Wasm, Trusted: m.Trusted, MaxMemory: m.Limits.Memory}
}

// Check finds everything for which the module could never be loaded, short of
// compiling it. See [plugins.Checker].
func (r *Runner) Check(m plugins.Module) []plugins.Diagnostic {
	i, err := r.engine.Inspect(sourceOf(&m))
	if err != nil {
		return engine.Diagnose(err)
	}
	_, faults := examine(i)
	return append(engine.Diagnoses(faults), engine.CheckGo(i, m.Wasm, abi.ExportCall)...)
}

// Close frees the runtime. Modules loaded from it must be closed before.
func (r *Runner) Close(ctx context.Context) error { return r.engine.Close(ctx) }
