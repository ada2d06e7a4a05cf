package main

import (
	"context"
	"encoding/json"
	"testing"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
)

const benchInput = `{"path":"/srv/data49/file","limit":2000}`

// callRows are calls through the whole host, and what they are made of.
func callRows() []row {
	whole := wholeCall("RustBench")
	return fine([]row{
		{
			name: "a whole call through host, a capability answering 4 KiB", ours: wholeCall("Bench"),
			baseline: "the same guest through extism/go-sdk", theirs: extismCall,
			compare: ratio, limit: "at most 0.2x",
		},
		{
			name: "the same in Rust with the SDK, in clean memory", ours: whole,
			baseline: "in hand-written WAT", theirs: wholeCall("Bench"),
			compare: difference, limit: "under 10 µs in all",
		},
		{
			name: "of which: the guest, its memory put back, and the runner", ours: rustBench(abi.InstanceFresh),
			baseline: "the whole", theirs: whole, compare: share, limit: "for the picture",
		},
		{
			name: "of which: the same in one kept instance", ours: rustBench(abi.InstanceKept),
			baseline: "the whole", theirs: whole, compare: share, limit: "for the picture",
		},
		{
			name: "of which: the input's schema", ours: validate,
			baseline: "the whole", theirs: whole, compare: share, limit: "for the picture",
		},
		{
			name: "1 MiB from host to guest", ours: guestReads(mib1),
			baseline: "raw wazero", theirs: rawReads,
			compare: ratio, limit: "at most 3x",
		},
	})
}

func wholeCall(tool string) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s, err := l.host.NewSession(host.SessionOptions{Cwd: l.dir})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close(context.Background())
		calls := []abi.ToolUse{{ID: "toolu_1", Name: tool, Input: json.RawMessage(benchInput)}}
		for b.Loop() {
			results := s.Results(context.Background(), calls)
			if results[0].IsError {
				b.Fatal(results[0].Text())
			}
		}
	}
}

// rustBench calls the same guest below the host.
func rustBench(mode abi.InstanceMode) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		wasm, err := guestModules.ReadFile("guests/tool/tool.wasm")
		if err != nil {
			b.Fatal(err)
		}
		l.callOver(b, wasm, mode, plugins.Invocation{
			Tool: &abi.Tool{Name: "RustBench"}, Input: json.RawMessage(benchInput),
			Capability: func(context.Context, abi.Request) (abi.Answer, error) { return memory{size: kib4}.answer(), nil },
		})
	}
}

func validate(b *testing.B, _ *lab) {
	schema, err := plugins.CompileSchema("Bench", benchSchema)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := schema.Validate(json.RawMessage(benchInput)); err != nil {
			b.Fatal(err)
		}
	}
}

// extismCall is the same guest and the same 4 KiB through the Extism SDK, with
// an instance of its own for every call, as clean memory needs.
func extismCall(b *testing.B, _ *lab) {
	ctx := context.Background()
	read := extism.NewHostFunctionWithStack("bench_read", func(ctx context.Context, p *extism.CurrentPlugin, stack []uint64) {
		at, err := p.WriteBytes(content[:kib4])
		if err != nil {
			panic(err)
		}
		stack[0] = at
	}, []api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64})
	read.SetNamespace("extism:host/user")
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: extismWasm}}, Timeout: 30_000}
	compiled, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{}, []extism.HostFunction{read})
	if err != nil {
		b.Fatal(err)
	}
	defer compiled.Close(ctx)
	for b.Loop() {
		callSDK(b, compiled, "call", []byte(benchInput), "ok")
	}
}

// guestReads calls a guest, below the host, that reads an answer of that size.
func guestReads(size int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		b.SetBytes(int64(size))
		l.callOver(b, guestWasm, abi.InstanceKept, plugins.Invocation{
			Tool: &abi.Tool{Name: "Bench"}, Input: json.RawMessage("{}"),
			Capability: func(context.Context, abi.Request) (abi.Answer, error) { return memory{size: size}.answer(), nil },
		})
	}
}

func rawReads(b *testing.B, _ *lab) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	fill := func(_ context.Context, mod api.Module, stack []uint64) {
		mod.Memory().Write(uint32(stack[0]), content[:uint32(stack[1])])
		stack[0] = stack[1]
	}
	i32 := []api.ValueType{api.ValueTypeI32}
	_, err := r.NewHostModuleBuilder("bench").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(fill), append(i32, i32...), i32).Export("fill").Instantiate(ctx)
	if err != nil {
		b.Fatal(err)
	}
	mod, err := r.Instantiate(ctx, rawWasm)
	if err != nil {
		b.Fatal(err)
	}
	get := mod.ExportedFunction("get")
	b.SetBytes(mib1)
	stack := make([]uint64, 1)
	for b.Loop() {
		stack[0] = mib1
		if err := get.CallWithStack(ctx, stack); err != nil {
			b.Fatal(err)
		}
	}
}
