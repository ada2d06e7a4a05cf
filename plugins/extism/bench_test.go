package extism_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
)

// The benchmarks run testdata/bench.wasm, whose exports copy bytes word by word
// as Extism's PDKs do: echo its input, pull the answer of a capability call.

func bench(b *testing.B, export string, input string, answer string) {
	b.Helper()
	wasm := fixture(b, "bench.wasm")
	runner := extism.New(extism.Options{CacheDir: cacheDir})
	guest, err := runner.Load(b.Context(), plugins.Module{
		Manifest: manifest(export), Hash: sha256.Sum256(wasm), Wasm: wasm, Limits: limits,
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
	b.SetBytes(int64(len(input) + len(answer)))
	b.ReportAllocs()
	for b.Loop() {
		result, err := guest.Call(b.Context(), inv)
		if err != nil || result.IsError {
			b.Fatal(result.Text(), err)
		}
	}
}

func BenchmarkExtismSDK_Echo100B(b *testing.B) {
	bench(b, "echo", `"`+strings.Repeat("x", 98)+`"`, "")
}

func BenchmarkExtismSDK_Pull4KiB(b *testing.B) {
	bench(b, "pull", `{}`, strings.Repeat("x", 4<<10))
}

func BenchmarkExtismSDK_Pull1MiB(b *testing.B) {
	bench(b, "pull", `{}`, strings.Repeat("x", 1<<20))
}
