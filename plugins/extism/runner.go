package extism

import (
	"context"
	"errors"
	"sync"

	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
	"github.com/toolquay/toolquay/plugins/prepass"
)

const (
	// MaxVars bounds the variables of one call, in bytes, as go-sdk counts them.
	MaxVars = 1 << 20
	// MaxAnswer bounds the message that answers one capability call, in bytes.
	MaxAnswer = 16 << 20
	// maxRequest bounds the message of one capability call, in bytes.
	maxRequest = 16 << 20
)

// runner runs Extism modules.
type runner struct {
	engine *engine.Engine

	start  sync.Once
	kernel *engine.Program
	fail   error
}

var (
	_ plugins.Runner  = (*runner)(nil)
	_ plugins.Checker = (*runner)(nil)
)

// New returns a runner. It starts nothing: the runtime and the kernel start with the first
// module. It is a [plugins.RunnerFunc], for host.Main.
func New(o plugins.RunnerOptions) plugins.Runner {
	return &runner{engine: engine.New(engine.Options{CacheDir: o.CacheDir, Compiler: o.Compiler, Ahead: o.Ahead, Logger: o.Logger})}
}

// ABI is abi.ABIExtism.
func (r *runner) ABI() string { return abi.ABIExtism }

// open brings up what all modules share.
func (r *runner) open(ctx context.Context) error {
	r.start.Do(func() {
		if r.fail = r.engine.Link(ctx, hostModule, defineHost); r.fail != nil {
			return
		}
		wasm, hash := slimKernel()
		r.kernel, r.fail = r.engine.Compile(ctx, engine.Source{Wasm: wasm, Hash: hash, Trusted: true})
	})
	return r.fail
}

// Load compiles m, or takes it from the cache, and checks that it has the
// exports its tools need. It runs none of it.
func (r *runner) Load(ctx context.Context, m plugins.Module) (plugins.Instance, error) {
	if err := checkManifest(m.Manifest); err != nil {
		return nil, err
	}
	if err := r.open(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	program, err := r.engine.Compile(ctx, sourceOf(&m))
	if err != nil {
		return nil, err
	}
	// What follows is quick and leaves nothing half done.
	ctx = context.WithoutCancel(ctx)
	needs := program.Interface()
	err = checkModule(needs, r.kernel.Interface(), m.Manifest.Tools)
	if err == nil && imports(needs, wasi_snapshot_preview1.ModuleName) {
		err = r.engine.LinkWASI(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, program.Close(ctx))
	}
	return newModule(r, m, r.kernel, program), nil
}

func sourceOf(m *plugins.Module) engine.Source {
	return engine.Source{
		Hash: m.Hash, Wasm: m.Wasm, Trusted: m.Trusted, MaxMemory: m.Limits.Memory,
		Rename: rename, RenameID: renameID,
	}
}

// checkManifest refuses what a manifest asks for and Extism modules do not get.
func checkManifest(m *abi.Manifest) error {
	if m.Instance == abi.InstanceKept {
		return abi.Errorf(abi.CodeLoad, `instance = "kept" is not offered for Extism modules: their memory is clean for every call; remove it`)
	}
	return nil
}

// kernelInterface is what the kernel offers.
var kernelInterface = sync.OnceValues(func() (*prepass.Interface, error) {
	wasm, _ := slimKernel()
	return prepass.Inspect(wasm, prepass.Options{})
})

// Check finds everything for which the module could never be loaded, short of
// compiling it. See [plugins.Checker].
func (r *runner) Check(m plugins.Module) []plugins.Diagnostic {
	var found []plugins.Diagnostic
	if err := checkManifest(m.Manifest); err != nil {
		found = engine.Diagnose(err)
	}
	kernel, err := kernelInterface()
	if err != nil {
		return append(found, engine.Diagnose(err)...)
	}
	i, err := r.engine.Inspect(sourceOf(&m))
	if err != nil {
		return append(found, engine.Diagnose(err)...)
	}
	found = append(found, engine.Diagnoses(examine(i, kernel, m.Manifest.Tools))...)
	for n := range m.Manifest.Tools {
		if command := engine.CheckGo(i, m.Wasm, exportOf(&m.Manifest.Tools[n])); command != nil {
			found = append(found, command...)
			break
		}
	}
	if i.Import(hostModule, "http_request") != nil {
		found = append(found, plugins.Diagnostic{Severity: plugins.SeverityWarning,
			Message: "the module imports Extism's http_request, and a call of it fails here: only capabilities reach the network"})
	}
	return found
}

// Close frees what the modules share. They must be closed before.
func (r *runner) Close(ctx context.Context) error {
	r.start.Do(func() { r.fail = abi.Errorf(abi.CodeInternal, "the runner is closed") })
	var err error
	if r.kernel != nil {
		err = r.kernel.Close(ctx)
	}
	return errors.Join(err, r.engine.Close(ctx))
}
