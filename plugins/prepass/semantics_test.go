package prepass_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins/prepass"
)

var (
	i32  = []wasmgen.ValType{wasmgen.I32}
	two  = []wasmgen.ValType{wasmgen.I32, wasmgen.I64}
	runs = []int32{-1, 0, 1, 2, 3, 7, 1000, 100_000}
)

// same are functions of one i32 whose results must not change. Those with loops
// run long enough to pay in between, and every value goes round them.
var same = map[string]struct {
	sig    wasmgen.FuncType
	body   *wasmgen.Code
	locals []wasmgen.Locals
}{
	"several results": {
		sig: wasmgen.Sig(i32, two), body: new(wasmgen.Code).LocalGet(0).I64(-7),
	},
	"several results, returned from within": {
		sig: wasmgen.Sig(i32, two),
		body: counted(new(wasmgen.Code).LocalGet(1).I32(50_000).Op(wasmgen.I32GtS).If(wasmgen.NoResult).
			LocalGet(1).I64(3).Op(wasmgen.Return).End()).LocalGet(1).I64(4),
		locals: []wasmgen.Locals{{Count: 1, Type: wasmgen.I32}},
	},
	"branch to the function": {
		sig:    wasmgen.Sig(i32, i32),
		body:   counted(new(wasmgen.Code).I32(9).LocalGet(1).I32(40_000).Op(wasmgen.I32GtS).BrIf(1).Op(wasmgen.Drop)).LocalGet(1),
		locals: []wasmgen.Locals{{Count: 1, Type: wasmgen.I32}},
	},
	"br_table to the function": {
		sig: wasmgen.Sig(i32, i32),
		body: new(wasmgen.Code).Block(wasmgen.NoResult).Loop(wasmgen.NoResult).
			I32(5).LocalGet(0).BrTable(2, 2, 2).End().End().I32(6),
	},
	"br_table out of loops": {
		sig: wasmgen.Sig(i32, i32),
		body: new(wasmgen.Code).Block(wasmgen.NoResult).Loop(wasmgen.NoResult).Block(wasmgen.NoResult).Loop(wasmgen.NoResult).
			LocalGet(0).I32(1).Op(wasmgen.I32Sub).LocalTee(0).I32(3).Op(wasmgen.I32And).BrTable(3, 0, 1, 2).End().End().
			LocalGet(0).I32(0).Op(wasmgen.I32GtS).BrIf(0).End().End().LocalGet(0),
	},
	"loop with a result": {
		sig: wasmgen.Sig(i32, i32),
		body: new(wasmgen.Code).Loop(wasmgen.Result(wasmgen.I32)).LocalGet(0).I32(1).Op(wasmgen.I32Sub).LocalTee(0).
			I32(0).Op(wasmgen.I32GtS).BrIf(0).LocalGet(0).End(),
	},
	"floats and vectors round a loop": {
		sig: wasmgen.Sig(i32, []wasmgen.ValType{wasmgen.I32, wasmgen.I64, wasmgen.I64, wasmgen.I64}),
		// A signalling NaN must come out as it went in: bits, not numbers.
		body: new(wasmgen.Code).F32(0x7fa00001).LocalSet(2).F64(0xfff4000000000001).LocalSet(3).V128(1<<63|5, 0xffff).LocalSet(4).Append(
			counted(new(wasmgen.Code).LocalGet(2).LocalSet(2).LocalGet(3).LocalSet(3).LocalGet(4).LocalSet(4))).
			LocalGet(2).Op(0xbc).LocalGet(3).Op(0xbd).LocalGet(4).Raw(0xfd, 29, 0).LocalGet(4).Raw(0xfd, 29, 1),
		locals: []wasmgen.Locals{
			{Count: 1, Type: wasmgen.I32}, {Count: 1, Type: wasmgen.F32}, {Count: 1, Type: wasmgen.F64}, {Count: 1, Type: wasmgen.V128},
		},
	},
	"long fill": {
		sig: wasmgen.Sig(i32, i32),
		body: new(wasmgen.Code).I32(5).I32(7).LocalGet(0).MemoryFill().
			LocalGet(0).Access(wasmgen.I32Load8U, 0, 4).LocalGet(0).Access(wasmgen.I32Load8U, 0, 5).I32(100).Op(wasmgen.I32Mul).Op(wasmgen.I32Add),
	},
}

// counted repeats what it is given, counting in local 1 up to parameter 0.
func counted(body *wasmgen.Code) *wasmgen.Code {
	return new(wasmgen.Code).Loop(wasmgen.NoResult).LocalGet(1).I32(1).Op(wasmgen.I32Add).LocalSet(1).Append(body).
		LocalGet(1).LocalGet(0).Op(wasmgen.I32LtS).BrIf(0).End()
}

func TestSameResults(t *testing.T) {
	t.Parallel()
	for name, c := range same {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := exported(c.sig, c.body, c.locals...)
			m.Memory(wasmgen.AtLeast(8))
			once := rewrite(t, m.Bytes(), prepass.Options{}).Wasm
			twice := rewrite(t, once, prepass.Options{}).Wasm
			unlimited := func(api.Module, int64) {}
			for how, wasm := range map[string][]byte{"rewritten": once, "rewritten twice": twice} {
				before := instantiate(t, m.Bytes(), wazero.NewRuntimeConfigInterpreter(), unlimited)
				after := instantiate(t, wasm, wazero.NewRuntimeConfig(), unlimited)
				for _, arg := range runs {
					want, wantErr := before.ExportedFunction("run").Call(context.Background(), api.EncodeI32(arg))
					got, err := after.ExportedFunction("run").Call(context.Background(), api.EncodeI32(arg))
					if !slices.Equal(got, want) || (err == nil) != (wantErr == nil) {
						t.Errorf("%s, run(%d): got %v, %v, want %v, %v", how, arg, got, err, want, wantErr)
					}
				}
			}
		})
	}
}

// TestBulkPieces holds that fills and copies done in pieces leave what they leave
// in one go, whichever way they overlap, and write nothing where they trap.
func TestBulkPieces(t *testing.T) {
	t.Parallel()
	const size = 16 << 16
	var m wasmgen.Module
	m.Memory(wasmgen.AtLeast(16))
	m.Export("memory", wasmgen.Memory, 0)
	three := wasmgen.Sig([]wasmgen.ValType{wasmgen.I32, wasmgen.I32, wasmgen.I32}, nil)
	args := func() *wasmgen.Code { return new(wasmgen.Code).LocalGet(0).LocalGet(1).LocalGet(2) }
	m.Export("copy", wasmgen.Function, m.Func(three, args().MemoryCopy()))
	m.Export("fill", wasmgen.Function, m.Func(three, args().MemoryFill()))
	var instances []api.Module
	for _, wasm := range [][]byte{m.Bytes(), rewrite(t, m.Bytes(), prepass.Options{}).Wasm} {
		instances = append(instances, instantiate(t, wasm, wazero.NewRuntimeConfig(), func(api.Module, int64) {}))
	}
	const piece = 256 << 10
	for _, args := range [][]uint64{
		{0, 0, size}, {1, 0, size - 1}, {0, 1, size - 1}, {piece, 0, 2*piece + 1}, {0, piece, 2*piece + 1},
		{0, 0, size + 1}, {1, 0, size}, {0, 1, size}, {size, 0, 0}, {0, size, 0}, {size + 1, 0, 0},
		{0, 0, piece}, {3, 5, piece + 1}, {5, 3, piece + 1}, {0, 0, 1<<32 - 1}, {1<<32 - 1, 0, piece + 1}, {7, 3, 100},
	} {
		for _, op := range []string{"copy", "fill"} {
			var memory [2][]byte
			var errs [2]error
			for i, instance := range instances {
				memory[i], _ = instance.Memory().Read(0, size)
				for k := range memory[i] {
					memory[i][k] = byte(k ^ k>>8 ^ k>>16*31)
				}
				_, errs[i] = instance.ExportedFunction(op).Call(context.Background(), args...)
			}
			if !bytes.Equal(memory[0], memory[1]) || (errs[0] == nil) != (errs[1] == nil) {
				t.Errorf("memory.%s%v: differs: %v, %v", op, args, errs[0], errs[1])
			}
		}
	}
}

// TestTailCalls holds that frames and what loops paid in advance are given back
// ahead of a tail call: a million of them must fit.
func TestTailCalls(t *testing.T) {
	t.Parallel()
	var m wasmgen.Module
	f := m.Declare(wasmgen.Sig(i32, i32))
	m.Define(f, new(wasmgen.Code).Loop(wasmgen.NoResult).End().LocalGet(0).Op(wasmgen.I32Eqz).If(wasmgen.NoResult).I32(42).Op(wasmgen.Return).End().
		LocalGet(0).I32(1).Op(wasmgen.I32Sub).Raw(0x12).U32(f))
	m.Export("run", wasmgen.Function, f)
	instance := instantiate(t, rewrite(t, m.Bytes(), prepass.Options{MaxStack: 1 << 16}).Wasm, wazero.NewRuntimeConfig(), often(1<<30))
	got, err := instance.ExportedFunction("run").Call(context.Background(), 1_000_000)
	if err != nil || len(got) != 1 || got[0] != 42 {
		t.Errorf("got %v, %v", got, err)
	}
}
