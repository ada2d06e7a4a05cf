package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/extism/go-sdk"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
)

// extismRows run an unmodified Extism plugin, whose exports copy bytes word by
// word as Extism's PDKs do, here and in the Extism SDK. Memory is clean for every
// call of both.
func extismRows() []row {
	list := []row{
		{name: "Extism: a call that does nothing", ours: extismOurs("noop", 0, 0), theirs: extismSDK("noop", 0, 0), limit: "at least 30x faster"},
		{name: "Extism: 100 B in and out", ours: extismOurs("echo", 100, 0), theirs: extismSDK("echo", 100, 0), limit: "at least 30x faster"},
		{name: "Extism: 4 KiB in and out", ours: extismOurs("echo", kib4, 0), theirs: extismSDK("echo", kib4, 0), limit: "for the picture"},
		{name: "Extism: 1 MiB in and out", ours: extismOurs("echo", mib1, 0), theirs: extismSDK("echo", mib1, 0), limit: "for the picture"},
		{name: "Extism: 1 MiB from host to guest", ours: extismOurs("pull", 0, mib1), theirs: extismSDK("pull", 0, mib1), limit: "at least 8x faster"},
	}
	for i := range list {
		list[i].baseline, list[i].compare = "extism/go-sdk", faster
	}
	return fine(list)
}

// extismModule is the plugin: package extism has it for its own tests.
func extismModule() ([]byte, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(root, "plugins", "extism", "testdata", "bench.wasm"))
}

func extismOurs(export string, input, answer int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		ctx := context.Background()
		wasm, err := extismModule()
		if err != nil {
			b.Fatal(err)
		}
		runner := extism.New(plugins.RunnerOptions{CacheDir: filepath.Join(l.dir, "cache")})
		defer runner.Close(ctx)
		limits := plugins.DefaultLimits
		tool := abi.Tool{Name: "Bench", Export: export}
		guest, err := runner.Load(ctx, plugins.Module{
			Manifest: &abi.Manifest{Name: "bench", ABI: abi.ABIExtism, Tools: []abi.Tool{tool}},
			Hash:     sha256.Sum256(wasm), Wasm: wasm, Limits: limits, Trusted: true,
		})
		if err != nil {
			b.Fatal(err)
		}
		defer guest.Close(ctx)
		in := strings.Repeat("x", input)
		inv := plugins.Invocation{
			Tool: &tool, Input: json.RawMessage(in),
			Capability: func(context.Context, abi.Request) (abi.Answer, error) {
				return abi.Answer{OK: struct{}{}, Body: io.NopCloser(bytes.NewReader(content[:answer])), Size: int64(answer)}, nil
			},
		}
		for b.Loop() {
			result, err := guest.Call(ctx, inv)
			if err != nil || result.IsError || result.Text() != in {
				b.Fatalf("%.100q, %v", result.Text(), err)
			}
		}
	}
}

func extismSDK(export string, input, answer int) func(*testing.B, *lab) {
	return func(b *testing.B, _ *lab) {
		ctx := context.Background()
		wasm, err := extismModule()
		if err != nil {
			b.Fatal(err)
		}
		pull := sdk.NewHostFunctionWithStack(extism.CapabilityImport, func(_ context.Context, p *sdk.CurrentPlugin, stack []uint64) {
			if _, err := p.ReadBytes(stack[0]); err != nil {
				panic(err)
			}
			at, err := p.WriteBytes(content[:answer])
			if err != nil {
				panic(err)
			}
			stack[0] = at
		}, []sdk.ValueType{sdk.ValueTypePTR}, []sdk.ValueType{sdk.ValueTypePTR})
		manifest := sdk.Manifest{Wasm: []sdk.Wasm{sdk.WasmData{Data: wasm}}}
		compiled, err := sdk.NewCompiledPlugin(ctx, manifest, sdk.PluginConfig{}, []sdk.HostFunction{pull})
		if err != nil {
			b.Fatal(err)
		}
		defer compiled.Close(ctx)
		in := strings.Repeat("x", input)
		for b.Loop() {
			callSDK(b, compiled, export, []byte(in), in)
		}
	}
}

// callSDK makes one call in an instance of its own.
func callSDK(b *testing.B, compiled *sdk.CompiledPlugin, export string, input []byte, want string) {
	b.Helper()
	ctx := context.Background()
	p, err := compiled.Instance(ctx, sdk.PluginInstanceConfig{})
	if err != nil {
		b.Fatal(err)
	}
	if _, out, err := p.CallWithContext(ctx, export, input); err != nil || string(out) != want {
		b.Fatalf("%.100q, %v", out, err)
	}
	if err := p.CloseWithContext(ctx); err != nil {
		b.Fatal(err)
	}
}
