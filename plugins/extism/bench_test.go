package extism_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"strings"
	"testing"

	sdk "github.com/extism/go-sdk"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
)

// BenchmarkCall compares a call of an unmodified Extism plugin here with the
// same through go-sdk: "fresh" with an instance for every call, which is what
// clean memory costs there, and "kept" with one instance for all of them. Neither
// has its interruption armed. The plugin is testdata/bench.wasm, whose exports
// copy bytes word by word as Extism's PDKs do.
func BenchmarkCall(b *testing.B) {
	for _, bb := range []struct {
		name, export  string
		input, answer int
	}{
		{"noop", "noop", 0, 0},
		{"echo 100 B", "echo", 100, 0},
		{"echo 4 KiB", "echo", 4 << 10, 0},
		{"echo 1 MiB", "echo", 1 << 20, 0},
		{"host to guest 4 KiB", "pull", 0, 4 << 10},
		{"host to guest 1 MiB", "pull", 0, 1 << 20},
	} {
		input, answer := strings.Repeat("x", bb.input), strings.Repeat("y", bb.answer)
		for name, bench := range map[string]func(*testing.B, string, string, string){
			"toolquay": benchOurs, "sdk-fresh": benchSDK(true), "sdk-kept": benchSDK(false),
		} {
			b.Run(bb.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(input) + len(answer)))
				b.ReportAllocs()
				bench(b, bb.export, input, answer)
			})
		}
	}
}

func benchOurs(b *testing.B, export, input, answer string) {
	b.Helper()
	wasm := fixture(b, "bench.wasm")
	runner := extism.New(plugins.RunnerOptions{CacheDir: testenv.CompileCache()})
	roomy := limits
	roomy.Output = 4 << 20
	guest, err := runner.Load(b.Context(), plugins.Module{
		Manifest: manifest(export), Hash: sha256.Sum256(wasm), Wasm: wasm, Limits: roomy,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer guest.Close(context.WithoutCancel(b.Context()))
	inv := plugins.Invocation{
		Tool:  &abi.Tool{Name: export, Export: export},
		Input: json.RawMessage(input),
		Capability: func(context.Context, abi.Request) (abi.Answer, error) {
			return abi.Answer{OK: struct{}{}, Body: io.NopCloser(strings.NewReader(answer)), Size: int64(len(answer))}, nil
		},
	}
	for b.Loop() {
		result, err := guest.Call(b.Context(), inv)
		if err != nil || result.IsError || result.Content[0].Text != input {
			b.Fatal(result.Text(), err)
		}
	}
}

func benchSDK(fresh bool) func(b *testing.B, export, input, answer string) {
	return func(b *testing.B, export, input, answer string) {
		b.Helper()
		pull := sdk.NewHostFunctionWithStack(extism.CapabilityImport, func(_ context.Context, p *sdk.CurrentPlugin, stack []uint64) {
			if _, err := p.ReadBytes(stack[0]); err != nil {
				panic(err)
			}
			offset, err := p.WriteBytes([]byte(answer))
			if err != nil {
				panic(err)
			}
			stack[0] = offset
		}, []sdk.ValueType{sdk.ValueTypePTR}, []sdk.ValueType{sdk.ValueTypePTR})
		manifest := sdk.Manifest{Wasm: []sdk.Wasm{sdk.WasmData{Data: fixture(b, "bench.wasm")}}}
		compiled, err := sdk.NewCompiledPlugin(b.Context(), manifest, sdk.PluginConfig{}, []sdk.HostFunction{pull})
		if err != nil {
			b.Fatal(err)
		}
		defer compiled.Close(context.WithoutCancel(b.Context()))
		var p *sdk.Plugin
		for b.Loop() {
			if p == nil {
				if p, err = compiled.Instance(b.Context(), sdk.PluginInstanceConfig{}); err != nil {
					b.Fatal(err)
				}
			}
			_, out, err := p.CallWithContext(b.Context(), export, []byte(input))
			if err != nil || string(out) != input {
				b.Fatal(err)
			}
			if fresh {
				if err := p.CloseWithContext(b.Context()); err != nil {
					b.Fatal(err)
				}
				p = nil
			}
		}
	}
}
