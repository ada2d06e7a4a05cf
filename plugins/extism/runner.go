package extism

import (
	"context"
	"log/slog"

	sdk "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

const (
	// MaxVars bounds the variables of one call, in bytes.
	MaxVars = 1 << 20
	// MaxAnswer bounds the message that answers one capability call, in bytes.
	MaxAnswer = 16 << 20
	// maxRequest bounds the message of one capability call, in bytes.
	maxRequest = 16 << 20

	pageSize = 64 << 10
	// kernelPages is what the SDK's kernel needs to start.
	kernelPages = 16
)

// Options configure a [Runner]. The zero value is useful.
type Options struct {
	// CacheDir holds compiled code between processes, in a directory "extism"
	// of its own. It is made with mode 0700 where it is missing. Empty, or a
	// directory that others could write to, means no cache.
	CacheDir string
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// Runner runs Extism modules. It implements [plugins.Runner].
type Runner struct{ opts Options }

var _ plugins.Runner = (*Runner)(nil)

// New returns a runner. It starts nothing, but sets the log level of the Extism
// SDK, which is one for the whole process, to "info".
func New(o Options) *Runner {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	sdk.SetLogLevel(sdk.LogLevelInfo)
	return &Runner{opts: o}
}

// ABI is abi.ABIExtism.
func (r *Runner) ABI() string { return abi.ABIExtism }

// Close does nothing: modules share nothing that outlives them.
func (r *Runner) Close(context.Context) error { return nil }

// Load compiles m, or takes it from the cache, and checks that it has the
// exports its tools need. It runs none of it.
func (r *Runner) Load(ctx context.Context, m plugins.Module) (plugins.Instance, error) {
	if m.Manifest.Instance == abi.InstanceKept {
		return nil, abi.Errorf(abi.CodeLoad, `instance = "kept" is not offered for Extism modules: their memory is clean for every call; remove it`)
	}
	// Compiling is not interruptible and its result is shared, so it is not
	// bound to the call that happens to be the first.
	ctx = context.WithoutCancel(ctx)
	cache := openCache(r.opts.CacheDir, m.Hash, r.opts.Logger)
	mod, err := load(ctx, m, cache)
	if err == nil {
		cache.seal()
		return mod, nil
	}
	cache.close(ctx)
	if !cache.used() {
		return nil, err
	}
	// Either the module or what the cache holds of it is broken. Without the
	// cache only the module can be.
	memory := openCache("", m.Hash, r.opts.Logger)
	mod, again := load(ctx, m, memory)
	if again != nil {
		memory.close(ctx)
		return nil, again
	}
	r.opts.Logger.Warn("a damaged entry of the compile cache was deleted; the module was compiled again", "plugin", m.Manifest.Name, "reason", err)
	cache.purge()
	return mod, nil
}

func load(ctx context.Context, m plugins.Module, cache *cache) (mod *module, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = abi.Errorf(abi.CodeLoad, "the Extism SDK panicked while it loaded the module: %v", p)
		}
	}()
	pages := uint32(min(m.Limits.Memory/pageSize, 1<<15))
	if err := check(ctx, m, runtimeConfig(cache).WithMemoryLimitPages(pages)); err != nil {
		return nil, err
	}
	manifest := sdk.Manifest{
		Wasm:   []sdk.Wasm{sdk.WasmData{Data: m.Wasm, Name: "main"}},
		Memory: &sdk.ManifestMemory{MaxPages: max(pages, kernelPages), MaxVarBytes: MaxVars},
	}
	config := sdk.PluginConfig{RuntimeConfig: runtimeConfig(cache), EnableWasi: true}
	compiled, err := sdk.NewCompiledPlugin(ctx, manifest, config, []sdk.HostFunction{capabilityFunction()})
	if err != nil {
		return nil, abi.Errorf(abi.CodeLoad, "the Extism SDK does not load the module: %s", firstLine(err))
	}
	return &module{name: m.Manifest.Name, limits: m.Limits, compiled: compiled, cache: cache}, nil
}

// runtimeConfig arms the one means by which a running guest can be stopped.
func runtimeConfig(c *cache) wazero.RuntimeConfig {
	return wazero.NewRuntimeConfig().
		WithCloseOnContextDone(true).
		WithDebugInfoEnabled(false).
		WithCompilationCache(c.wazero)
}
