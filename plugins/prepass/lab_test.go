package prepass_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins/prepass"
)

const features = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

// quantum is the fuel that hosts here hand out at a time.
const quantum = 1 << 20

// errStopped ends a module that has asked for fuel often enough.
var errStopped = errors.New("stopped for the test")

// refill is what a host does when a module asks for fuel: it may look at the
// instance, and panics to end it.
type refill func(instance api.Module, left int64)

// often lets a module have fuel that many times.
func often(times int) refill {
	return func(_ api.Module, left int64) {
		if left == prepass.StackExhausted {
			panic(errors.New("out of stack"))
		}
		if times--; times < 0 {
			panic(errStopped)
		}
	}
}

// instantiate makes an instance on wazero's compiler or, with it, its
// interpreter.
func instantiate(tb testing.TB, wasm []byte, config wazero.RuntimeConfig, f refill) api.Module {
	tb.Helper()
	return instantiateWith(tb, wasm, config, quantum, f)
}

// instantiateWith is the same with another ration.
func instantiateWith(tb testing.TB, wasm []byte, config wazero.RuntimeConfig, ration uint64, f refill) api.Module {
	tb.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config.WithCoreFeatures(features))
	tb.Cleanup(func() { _ = r.Close(ctx) })
	i64 := []api.ValueType{api.ValueTypeI64}
	_, err := r.NewHostModuleBuilder(prepass.ImportModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, stack []uint64) {
			f(m, int64(stack[0]))
			stack[0] = ration
		}), i64, i64).Export(prepass.ImportRefill).Instantiate(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	instance, err := r.Instantiate(ctx, wasm)
	if err != nil {
		tb.Fatal(err)
	}
	return instance
}

// rewrite rewrites a module that must pass.
func rewrite(tb testing.TB, wasm []byte, o prepass.Options) *prepass.Module {
	tb.Helper()
	m, err := prepass.Rewrite(wasm, o)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// exported is a module whose function "run" has the code.
func exported(sig wasmgen.FuncType, c *wasmgen.Code, locals ...wasmgen.Locals) *wasmgen.Module {
	var m wasmgen.Module
	m.Export("run", wasmgen.Function, m.Func(sig, c, locals...))
	return &m
}

var nothing = wasmgen.Sig(nil, nil)
