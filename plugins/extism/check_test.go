package extism_test

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
)

// TestCheck finds what Load would refuse, and no more.
func TestCheck(t *testing.T) {
	t.Parallel()
	i32, i64 := []wasmgen.ValType{wasmgen.I32}, []wasmgen.ValType{wasmgen.I64}
	two := append(slices.Clone(i64), i64...)
	build := func(spoil func(*wasmgen.Module), of wasmgen.FuncType, body *wasmgen.Code) []byte {
		var m wasmgen.Module
		if spoil != nil {
			spoil(&m)
		}
		m.Export("greet", wasmgen.Function, m.Func(of, body))
		return m.Bytes()
	}
	number := new(wasmgen.Code).I32(0)
	tests := map[string]struct {
		manifest abi.Manifest
		wasm     []byte
		want     []string // each a part of one diagnostic, in order
	}{
		"nothing":    {abi.Manifest{}, build(nil, wasmgen.Sig(nil, i32), number), nil},
		"no export":  {abi.Manifest{Tools: []abi.Tool{{Name: "Bye"}}}, build(nil, wasmgen.Sig(nil, i32), number), []string{`error: the module has no export "Bye" for the tool Bye; it has greet (set the tool's export key)`}},
		"the kernel": {abi.Manifest{}, build(func(m *wasmgen.Module) { m.ImportFunc("extism:host/env", "alloc", wasmgen.Sig(i64, i64)) }, wasmgen.Sig(nil, i32), number), nil},
		"http_request": {abi.Manifest{}, build(func(m *wasmgen.Module) {
			m.ImportFunc("extism:host/env", "http_request", wasmgen.Sig(two, i64))
		}, wasmgen.Sig(nil, i32), number), []string{"warning: the module imports Extism's http_request"}},
		"kept": {abi.Manifest{Instance: abi.InstanceKept}, build(nil, wasmgen.Sig(nil, i32), number), []string{`instance = "kept" is not offered`}},
		"another shape": {abi.Manifest{}, build(func(m *wasmgen.Module) {
			m.ImportFunc("extism:host/env", "alloc", wasmgen.Sig(i32, i32))
			m.ImportFunc("extism:host/env", "teleport", wasmgen.Sig(i32, i32))
			m.ImportMemory("env", "memory", wasmgen.AtLeast(1))
			m.ImportGlobal("env", "base", wasmgen.I32, false)
			m.ImportFunc("wasi_snapshot_preview1", "fd_teleport", wasmgen.Sig(i32, i32))
		}, wasmgen.Sig(i32, nil), new(wasmgen.Code)), []string{
			"imports extism:host/env.alloc as (i32) -> (i32); it is (i64) -> (i64)", "imports extism:host/env.teleport, which Extism does not have",
			"imports the memory env.memory", "imports the global env.base", "imports wasi_snapshot_preview1.fd_teleport, which WASI", `exports "greet" with 1 parameters`,
		}},
		"no module": {abi.Manifest{}, []byte("text"), []string{"not a WebAssembly binary"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := extism.New(plugins.RunnerOptions{})
			t.Cleanup(func() { _ = r.Close(t.Context()) })
			if tt.manifest.Tools == nil {
				tt.manifest.Tools = []abi.Tool{{Name: "Greet", Export: "greet"}}
			}
			m := plugins.Module{Manifest: &tt.manifest, Hash: sha256.Sum256(tt.wasm), Wasm: tt.wasm, Trusted: true, Limits: plugins.DefaultLimits}
			got := r.(plugins.Checker).Check(m)
			if len(got) != len(tt.want) {
				t.Errorf("got %v", got)
			}
			for i, d := range got {
				if i < len(tt.want) && !strings.Contains(d.String(), tt.want[i]) {
					t.Errorf("got %s, want %s", d, tt.want[i])
				}
			}
			instance, err := r.Load(t.Context(), m)
			if (err != nil) != plugins.Failed(got) {
				t.Errorf("Load says %v, Check %v", err, got)
			}
			if err == nil {
				_ = instance.Close(t.Context()) // the test is over
			}
		})
	}
}
