package hostile_test

import (
	"github.com/toolquay/toolquay/abi"
	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
)

// recursing goes down until something gives. The stack is no part of memory and
// no limit on memory sees it.
func recursing() []fixture {
	shapes := []struct {
		name  string
		build func(*guest)
	}{
		{"tiny frames", recurseTiny},
		{"many locals", recurseLocals},
		{"many operands", recurseOperands},
		{"many parameters", recurseParams},
		{"many results", recurseResults},
		{"vectors", recurseVectors},
		{"through a table", recurseTable},
		{"two by two", recurseMutual},
	}
	var list []fixture
	for _, s := range shapes {
		one := fixture{name: "recursion, " + s.name, build: s.build, code: abi.CodeTrap, says: []string{"stack"}}
		ten := one
		ten.name, ten.calls = one.name+", ten at once", 10
		list = append(list, one, ten)
	}
	return list
}

func recurseTiny(g *guest) {
	f := g.Declare(none)
	g.Define(f, new(wg.Code).Call(f).Op(wg.Nop))
	g.main.Call(f)
}

// recurseLocals has 2,000 locals that are needed again after the call.
func recurseLocals(g *guest) { recurseHolding(g, 2000, wg.I64, wg.I64Add) }

// recurseVectors has 500 of 16 bytes.
func recurseVectors(g *guest) {
	const n, i8x16Add = 500, wg.Opcode(0xfd<<16 | 110)
	seed := g.Global(wg.V128, true, new(wg.Code).V128(1, 2))
	f := g.Declare(none)
	holdLocals(g, f, seed, n, wg.V128, i8x16Add)
	g.main.Call(f)
}

func recurseHolding(g *guest, n uint32, t wg.ValType, add wg.Opcode) {
	seed := g.Global(t, true, new(wg.Code).I64(1))
	f := g.Declare(none)
	holdLocals(g, f, seed, n, t, add)
	g.main.Call(f)
}

func holdLocals(g *guest, f, seed, n uint32, t wg.ValType, add wg.Opcode) {
	var c wg.Code
	for i := range n {
		// Each is another value, so that none can be left out.
		c.GlobalGet(seed).GlobalGet(seed).Op(add).LocalTee(i).GlobalSet(seed)
	}
	c.Call(f)
	for i := range n {
		c.GlobalGet(seed).LocalGet(i).Op(add).GlobalSet(seed)
	}
	g.Define(f, &c, wg.Locals{Count: n, Type: t})
}

func recurseOperands(g *guest) {
	const n = 1000
	seed := g.Global(wg.I64, true, new(wg.Code).I64(1))
	f := g.Declare(none)
	var c wg.Code
	for range n {
		c.GlobalGet(seed).GlobalGet(seed).Op(wg.I64Add).GlobalSet(seed).GlobalGet(seed)
	}
	c.Call(f)
	for range n - 1 {
		c.Op(wg.I64Add)
	}
	c.GlobalSet(seed)
	g.Define(f, &c)
	g.main.Call(f)
}

func recurseParams(g *guest) {
	const n = 100
	f := g.Declare(wg.Sig(i64s(n), i64s(1)))
	var c wg.Code
	for i := range uint32(n) {
		c.LocalGet(i).I64(1).Op(wg.I64Add)
	}
	c.Call(f).LocalGet(7).Op(wg.I64Add)
	g.Define(f, &c)
	for range n {
		g.main.I64(1)
	}
	g.main.Call(f).Op(wg.Drop)
}

func recurseResults(g *guest) {
	const n = 100
	f := g.Declare(wg.Sig(nil, i64s(n)))
	g.Define(f, new(wg.Code).Call(f).I64(1).Op(wg.I64Add))
	g.main.Call(f)
	for range n {
		g.main.Op(wg.Drop)
	}
}

func recurseTable(g *guest) {
	table := g.Table(wg.FuncRef, wg.AtLeast(1))
	f := g.Func(none, new(wg.Code).I32(0).CallIndirect(g.Type(none), table).Op(wg.Nop))
	g.Elem(table, new(wg.Code).I32(0), f)
	g.main.Call(f)
}

func recurseMutual(g *guest) {
	a, b := g.Declare(none), g.Declare(none)
	g.Define(a, new(wg.Code).Call(b).Op(wg.Nop))
	g.Define(b, new(wg.Code).Call(a).Op(wg.Nop))
	g.main.Call(a)
}
