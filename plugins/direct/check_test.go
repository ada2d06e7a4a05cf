package direct_test

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// TestCheckGo finds modules of standard Go that were not built as c-shared.
func TestCheckGo(t *testing.T) {
	t.Parallel()
	r := direct.New(direct.Options{})
	t.Cleanup(func() { _ = r.Close(t.Context()) })
	for _, test := range []struct {
		start, compiler string
		refused         bool
	}{
		{"_start", "Go cmd/compile", true},
		{"_initialize", "Go cmd/compile", false},
		{"_start", "TinyGo", false},
	} {
		var m wasmgen.Module
		i32, i64 := wasmgen.I32, wasmgen.I64
		m.Export("memory", wasmgen.Memory, m.Memory(wasmgen.AtLeast(1)))
		m.Export(test.start, wasmgen.Function, m.Func(wasmgen.Sig(nil, nil), new(wasmgen.Code)))
		m.Export("alloc", wasmgen.Function, m.Func(wasmgen.Sig([]wasmgen.ValType{i32}, []wasmgen.ValType{i32}), new(wasmgen.Code).I32(0)))
		m.Export("call", wasmgen.Function, m.Func(wasmgen.Sig([]wasmgen.ValType{i32, i32}, []wasmgen.ValType{i64}), new(wasmgen.Code).I64(0)))
		m.Custom("producers", append([]byte{1, 12}, "processed-by\x01"+string(rune(len(test.compiler)))+test.compiler+"\x00"...))
		got := r.Check(plugins.Module{Manifest: &abi.Manifest{}, Wasm: m.Bytes(), Trusted: true, Limits: plugins.DefaultLimits})
		if plugins.Failed(got) != test.refused || test.refused && !strings.Contains(got[0].Message, "-buildmode=c-shared") {
			t.Errorf("%s by %s: %v", test.start, test.compiler, got)
		}
	}
}
