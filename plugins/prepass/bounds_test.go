package prepass_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// nested is a function body of n blocks or loops in one another.
func nested(n int, begin func(*wasmgen.Code) *wasmgen.Code) *wasmgen.Code {
	var c wasmgen.Code
	for range n {
		begin(&c)
	}
	for range n {
		c.End()
	}
	return &c
}

func block(c *wasmgen.Code) *wasmgen.Code { return c.Block(wasmgen.NoResult) }
func loop(c *wasmgen.Code) *wasmgen.Code  { return c.Loop(wasmgen.NoResult) }

// times makes a module by doing something to it n times.
func times(n int, do func(m *wasmgen.Module)) *wasmgen.Module {
	var m wasmgen.Module
	for range n {
		do(&m)
	}
	return &m
}

// oversized are modules that each pass one bound, and what is said of them.
// Offsets are those of the entry that is too many, or of the count that says so.
var oversized = map[string]struct {
	module *wasmgen.Module
	bounds prepass.Bounds
	want   string
}{
	"bytes": {
		times(20, func(m *wasmgen.Module) { m.Func(nothing, new(wasmgen.Code)) }), prepass.Bounds{ModuleBytes: 64},
		"wasm module, offset 0x40: 100 bytes, at most 64 are allowed",
	},
	"types": {
		times(3, func(m *wasmgen.Module) { m.AddType(nothing) }), prepass.Bounds{Types: 2},
		"wasm module, type section, offset 0xa: 3 types, at most 2 are allowed",
	},
	"parameters": {
		times(1, func(m *wasmgen.Module) {
			m.AddType(wasmgen.Sig([]wasmgen.ValType{wasmgen.I32, wasmgen.I32}, nil))
		}), prepass.Bounds{ValuesPerType: 1},
		"wasm module, type section, offset 0xc: 2 parameters, at most 1 are allowed",
	},
	"results": {
		times(1, func(m *wasmgen.Module) {
			m.AddType(wasmgen.Sig(nil, []wasmgen.ValType{wasmgen.I32, wasmgen.I32}))
		}), prepass.Bounds{ValuesPerType: 1},
		"wasm module, type section, offset 0xd: 2 results, at most 1 are allowed",
	},
	"functions": {
		times(3, func(m *wasmgen.Module) { m.Func(nothing, new(wasmgen.Code)) }), prepass.Bounds{Functions: 2},
		"wasm module, function section, offset 0x10: 3 functions, at most 2 are allowed",
	},
	"imported functions": {
		times(3, func(m *wasmgen.Module) { m.ImportFunc("m", "f", nothing) }), prepass.Bounds{Functions: 2},
		"wasm module, import section, offset 0x22: 3 functions, at most 2 are allowed",
	},
	"imports": {
		times(3, func(m *wasmgen.Module) { m.ImportFunc("m", "f", nothing) }), prepass.Bounds{Imports: 2},
		"wasm module, import section, offset 0x10: 3 imports, at most 2 are allowed",
	},
	"exports": {
		times(3, func(m *wasmgen.Module) {
			m.Export("run", wasmgen.Function, m.Func(nothing, new(wasmgen.Code)))
		}), prepass.Bounds{Exports: 2},
		"wasm module, export section, offset 0x16: 3 exports, at most 2 are allowed",
	},
	"name": {
		exported(nothing, new(wasmgen.Code)), prepass.Bounds{NameBytes: 2},
		"wasm module, export section, offset 0x15: 3 export name bytes, at most 2 are allowed",
	},
	"body": {
		exported(nothing, new(wasmgen.Code).Raw(1, 1, 1)), prepass.Bounds{BodyBytes: 4},
		"wasm module, code section, offset 0x1e: 5 bytes in one function, at most 4 are allowed",
	},
	"locals": {
		exported(nothing, new(wasmgen.Code), wasmgen.Locals{Count: 3, Type: wasmgen.I32}), prepass.Bounds{Locals: 2},
		"wasm module, code section, offset 0x1f: 3 locals, at most 2 are allowed",
	},
	"blocks": {
		exported(nothing, nested(3, block)), prepass.Bounds{Nesting: 2},
		"wasm module, code section, offset 0x24: 3 nested blocks, at most 2 are allowed",
	},
	"loops": {
		exported(nothing, nested(3, loop)), prepass.Bounds{LoopNesting: 2},
		"wasm module, code section, offset 0x24: 3 nested loops, at most 2 are allowed",
	},
	"br_table": {
		exported(nothing, new(wasmgen.Code).I32(0).BrTable(0, 0, 0, 0)), prepass.Bounds{BranchTable: 2},
		"wasm module, code section, offset 0x22: 3 labels in a br_table, at most 2 are allowed",
	},
	"br_tables": {
		exported(nothing, new(wasmgen.Code).I32(0).BrTable(0, 0, 0).I32(0).BrTable(0, 0, 0)), prepass.Bounds{BranchTables: 3},
		"wasm module, code section, offset 0x29: 4 labels in br_tables, at most 3 are allowed",
	},
	"merges": {
		exported(nothing, nested(3, block), wasmgen.Locals{Count: 3, Type: wasmgen.I32}), prepass.Bounds{Merges: 8},
		"wasm module, code section, offset 0x22: 9 merged locals (labels times locals), at most 8 are allowed",
	},
	"globals": {
		times(3, func(m *wasmgen.Module) { m.Global(wasmgen.I32, true, new(wasmgen.Code).I32(0)) }), prepass.Bounds{Globals: 2},
		"wasm module, global section, offset 0xa: 3 globals, at most 2 are allowed",
	},
	"data segments": {
		times(3, func(m *wasmgen.Module) { m.PassiveData(nil) }), prepass.Bounds{DataSegments: 2},
		"wasm module, data count section, offset 0xa: 3 data segments, at most 2 are allowed",
	},
	"element segments": {
		times(3, func(m *wasmgen.Module) { m.PassiveElem() }), prepass.Bounds{ElementSegments: 2},
		"wasm module, element section, offset 0xa: 3 element segments, at most 2 are allowed",
	},
	"elements": {
		times(2, func(m *wasmgen.Module) {
			f := m.Func(nothing, new(wasmgen.Code))
			m.PassiveElem(f, f)
		}), prepass.Bounds{Elements: 3},
		"wasm module, element section, offset 0x1d: 4 elements, at most 3 are allowed",
	},
	"memory": {
		times(1, func(m *wasmgen.Module) { m.Memory(wasmgen.AtLeast(3)) }), prepass.Bounds{MemoryMin: 2 << 16},
		"wasm module, memory section, offset 0xb: 196608 bytes of memory at the start, at most 131072 are allowed",
	},
	"tables": {
		times(3, func(m *wasmgen.Module) { m.Table(wasmgen.FuncRef, wasmgen.AtLeast(0)) }), prepass.Bounds{Tables: 2},
		"wasm module, table section, offset 0xa: 3 tables, at most 2 are allowed",
	},
	"table entries": {
		times(2, func(m *wasmgen.Module) { m.Table(wasmgen.FuncRef, wasmgen.AtLeast(2)) }), prepass.Bounds{TableEntries: 3},
		"wasm module, table section, offset 0xe: 4 table entries at the start, at most 3 are allowed",
	},
	"density": {
		exported(nothing, new(wasmgen.Code).Raw(bytes.Repeat([]byte{0x0f}, 100)...)), prepass.Bounds{Density: 50},
		"wasm module, code section, offset 0x52: 51 calls, loops and other places to charge for, at most 50 are allowed",
	},
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for name, c := range oversized {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wasm := c.module.Bytes()
			_, err := prepass.Rewrite(wasm, prepass.Options{Bounds: c.bounds})
			if _, ok := errors.AsType[*prepass.Error](err); !ok {
				t.Fatalf("got %v, want an error of type *prepass.Error", err)
			}
			if err.Error() != c.want {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if _, err := prepass.Rewrite(wasm, prepass.Options{}); err != nil {
				t.Errorf("with the default bounds: %v", err)
			}
		})
	}
}

// TestMemoryCap holds that a memory that starts above the host's cap is refused,
// and that the cap is written into all others.
func TestMemoryCap(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		limits   wasmgen.Limits
		max      uint64
		want     uint64 // the maximum as written
		refusals string
	}{
		"unstated":     {limits: wasmgen.AtLeast(1), max: 4 << 16, want: 4 << 16},
		"above":        {limits: wasmgen.Between(1, 9), max: 4 << 16, want: 4 << 16},
		"below":        {limits: wasmgen.Between(1, 2), max: 4 << 16, want: 2 << 16},
		"odd cap":      {limits: wasmgen.AtLeast(1), max: 4<<16 - 1, want: 3 << 16},
		"no cap":       {limits: wasmgen.AtLeast(1)},
		"minimum over": {limits: wasmgen.AtLeast(5), max: 4 << 16, refusals: "327680 bytes of memory at the start, at most 262144"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m wasmgen.Module
			m.Memory(c.limits)
			got, err := prepass.Rewrite(m.Bytes(), prepass.Options{MaxMemory: c.max})
			switch {
			case c.refusals != "":
				if err == nil || !strings.Contains(err.Error(), c.refusals) {
					t.Errorf("got %v, want an error with %q", err, c.refusals)
				}
			case err != nil:
				t.Error(err)
			case got.Facts.MemoryMax != c.want || got.Facts.MemoryMin != uint64(c.limits.Min)<<16:
				t.Errorf("got a memory of %d to %d bytes, want up to %d", got.Facts.MemoryMin, got.Facts.MemoryMax, c.want)
			}
		})
	}
}

// TestTableCap holds that what the bound leaves of entries is shared out among the tables.
func TestTableCap(t *testing.T) {
	t.Parallel()
	var m wasmgen.Module
	m.Table(wasmgen.FuncRef, wasmgen.AtLeast(2))
	m.Table(wasmgen.FuncRef, wasmgen.Between(1, 100))
	m.Table(wasmgen.FuncRef, wasmgen.Between(0, 1))
	got, err := prepass.Rewrite(m.Bytes(), prepass.Options{Bounds: prepass.Bounds{TableEntries: 12}})
	if err != nil {
		t.Fatal(err)
	}
	// Id and size of the section, then the number of tables, and of each its type and limits.
	if want := []byte{4, 13, 3, 0x70, 1, 2, 5, 0x70, 1, 1, 4, 0x70, 1, 0, 1}; !bytes.Contains(got.Wasm, want) {
		t.Errorf("got % x, want tables as in % x", got.Wasm, want)
	}
}

// TestDensity holds that a module of nothing but places to charge for is refused
// with little memory, long before it is read to its end.
func TestDensity(t *testing.T) {
	const size = 30 << 20
	bodies := map[string][]byte{
		"empty loops": {0x03, 0x40, 0x0b},
		"returns":     {0x0f},
		"calls":       {0x10, 0},
	}
	for name, code := range bodies {
		t.Run(name, func(t *testing.T) {
			var m wasmgen.Module
			body := new(wasmgen.Code).Raw(bytes.Repeat(code, 3<<20/len(code))...)
			for range size / body.Len() {
				m.Func(nothing, body)
			}
			wasm := m.Bytes()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := prepass.Rewrite(wasm, prepass.Options{})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), "places to charge for") {
				t.Errorf("got %v", err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 20*size {
				t.Errorf("took %d MiB for %d MiB", took>>20, len(wasm)>>20)
			}
		})
	}
}
