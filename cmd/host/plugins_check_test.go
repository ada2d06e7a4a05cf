package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/wasmgen"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// TestCheckCompiles: what nothing else is wrong with is compiled, which finds wrong code.
func TestCheckCompiles(t *testing.T) {
	t.Parallel()
	one := []wasmgen.ValType{wasmgen.I32}
	var m wasmgen.Module
	m.Export(abi.ExportMemory, wasmgen.Memory, m.Memory(wasmgen.AtLeast(1)))
	m.Export(abi.ExportAlloc, wasmgen.Function, m.Func(wasmgen.Sig(one, one), new(wasmgen.Code).I32(0)))
	m.Export(abi.ExportCall, wasmgen.Function, m.Func(wasmgen.Sig(append(one, one...), []wasmgen.ValType{wasmgen.I64}), new(wasmgen.Code).I32(0)))
	dir := t.TempDir()
	toml := "manifest = 1\nname = \"one\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"Show\"\ninput_schema = '{\"type\":\"object\"}'\n"
	for name, content := range map[string][]byte{abi.ManifestFile: []byte(toml), "one.wasm": m.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := plugins.Open(plugins.Options{
		Sources: []plugins.Source{plugins.Dir(plugins.OriginFlag, dir)}, Runners: []plugins.Runner{direct.New(direct.Options{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close(t.Context())
	p := set.Plugins()[0]
	if c := check(t.Context(), p); len(p.Check()) != 0 || c.OK || len(c.Diagnostics) != 1 {
		t.Errorf("without compiling: %v; with it: %+v", p.Check(), c)
	}
}
