package wasmgen_test

import (
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
)

// TestModule builds a module with one of everything, by hand, and runs it.
func TestModule(t *testing.T) {
	t.Parallel()
	var m wasmgen.Module
	number := []wasmgen.ValType{wasmgen.I32}
	m.Custom("note", []byte("hello"))
	table := m.Table(wasmgen.FuncRef, wasmgen.Between(2, 4))
	m.Memory(wasmgen.AtLeast(1))
	m.Data(new(wasmgen.Code).I32(8), []byte{5, 0, 0, 0})
	segment := m.PassiveData([]byte{7})
	total := m.Global(wasmgen.I64, true, new(wasmgen.Code).I64(-3))

	// double calls back through the table; sum of 1 to n needs a loop.
	typ := m.Type(wasmgen.Sig(number, number))
	double := m.Func(wasmgen.Sig(number, number), new(wasmgen.Code).LocalGet(0).LocalGet(0).Op(wasmgen.I32Add))
	m.Elem(table, new(wasmgen.Code).I32(1), double)
	sum := m.Declare(wasmgen.Sig(number, number))
	var c wasmgen.Code
	c.Loop(wasmgen.NoResult)
	c.LocalGet(0).LocalGet(1).Op(wasmgen.I32Add).LocalSet(1)
	c.LocalGet(0).I32(1).Op(wasmgen.I32Sub).LocalTee(0).BrIf(0).End()
	c.LocalGet(1).I32(1).CallIndirect(typ, table)
	c.I32(0).I32(0).I32(1).MemoryInit(segment)
	c.I32(8).Access(wasmgen.I32Load, 2, 0).Op(wasmgen.I32Add)
	c.I32(0).Access(wasmgen.I32Load8U, 0, 0).Op(wasmgen.I32Add)
	c.GlobalGet(total).Op(wasmgen.I32WrapI64).Op(wasmgen.I32Add)
	m.Define(sum, &c, wasmgen.Locals{Count: 1, Type: wasmgen.I32})
	m.Export("sum", wasmgen.Function, sum)

	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	defer closeRuntime(t, r)
	instance, err := r.Instantiate(ctx, m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	results, err := instance.ExportedFunction("sum").Call(ctx, 4)
	if err != nil {
		t.Fatal(err)
	}
	if want := uint64(2*(4+3+2+1) + 5 + 7 - 3); results[0] != want {
		t.Errorf("sum(4) = %d, want %d", results[0], want)
	}
}

func TestLateImportsAreFaults(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an import after a definition, which it gives another index, was taken")
		}
	}()
	var m wasmgen.Module
	m.Func(wasmgen.FuncType{}, new(wasmgen.Code))
	m.ImportFunc("a", "b", wasmgen.FuncType{})
}
