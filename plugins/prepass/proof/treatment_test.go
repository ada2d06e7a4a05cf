package proof

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// TestRewriteIsDeterministic rewrites random modules twice from the same bytes.
func TestRewriteIsDeterministic(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		wasm := wasmgen.Seeded(seed)
		first, err := prepass.Rewrite(wasm, generous)
		if err != nil {
			t.Fatal(err)
		}
		second, err := prepass.Rewrite(bytes.Clone(wasm), generous)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Wasm, second.Wasm) {
			t.Errorf("seed %d: one module was rewritten in two ways", seed)
		}
	}
}

// TestDifferencesAreSeen has modules compared that differ, each in one thing
// only: a comparison that finds nothing would prove nothing.
func TestDifferencesAreSeen(t *testing.T) {
	t.Parallel()
	run := func(result *wasmgen.Code) func(m *wasmgen.Module) {
		return func(m *wasmgen.Module) { exportRun(m, result) }
	}
	tests := map[string]struct {
		original, other func(m *wasmgen.Module)
		want            string
	}{
		"result": {run(new(wasmgen.Code).I32(1)), run(new(wasmgen.Code).I32(2)), "run"},
		"trap": {
			run(new(wasmgen.Code).I32(1).I32(0).Op(wasmgen.I32DivS)),
			run(new(wasmgen.Code).Op(wasmgen.Unreachable)), "integer divide by zero",
		},
		"trap that is none": {run(new(wasmgen.Code).Op(wasmgen.Unreachable)), run(new(wasmgen.Code).I32(1)), "unreachable"},
		"memory": {
			run(new(wasmgen.Code).I32(70000).I32(5).Access(wasmgen.I32Store, 2, 0).I32(1)),
			run(new(wasmgen.Code).I32(1)), "memories differ from byte 0x11170",
		},
		"size of memory": {
			run(new(wasmgen.Code).I32(1).MemoryGrow().Op(wasmgen.Drop).I32(1)),
			run(new(wasmgen.Code).I32(1)), "memories differ",
		},
		"global": {
			run(new(wasmgen.Code).I32(3).GlobalSet(0).I32(1)),
			run(new(wasmgen.Code).I32(1)), "global g is 0x0, original 0x3",
		},
		"start": {
			func(m *wasmgen.Module) { run(new(wasmgen.Code).I32(1))(m) },
			func(m *wasmgen.Module) {
				run(new(wasmgen.Code).I32(1))(m)
				m.Start(m.Func(wasmgen.FuncType{}, new(wasmgen.Code).Op(wasmgen.Unreachable)))
			}, "instantiation",
		},
		"made invalid": {run(new(wasmgen.Code).I32(1)), run(new(wasmgen.Code).I64(1)), "a valid module is rejected"},
		"made valid":   {run(new(wasmgen.Code).I64(1)), run(new(wasmgen.Code).I32(1)), "an invalid module was made valid"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var original, other wasmgen.Module
			tt.original(&original)
			tt.other(&other)
			d := newDifferential(t.Context(), t, engines()[0], false)
			defer d.close(t.Context(), t)
			d.others[0].treatment.rewrite = func([]byte) ([]byte, error) { return other.Bytes(), nil }
			err := d.compare(original.Bytes(), rand.New(rand.NewPCG(1, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found: %v; want %q in it", err, tt.want)
			}
		})
	}
}

// exportRun fills a module with a memory of two pages, a global g, and a
// function run of type [] -> [i32].
func exportRun(m *wasmgen.Module, body *wasmgen.Code) {
	m.Memory(wasmgen.AtLeast(2))
	m.Export("g", wasmgen.Global, m.Global(wasmgen.I32, true, new(wasmgen.Code).I32(0)))
	run := m.Func(wasmgen.Sig(nil, []wasmgen.ValType{wasmgen.I32}), body)
	m.Export("run", wasmgen.Function, run)
}
