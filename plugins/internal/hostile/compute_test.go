package hostile_test

import (
	"time"

	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
)

// computing never ends, or not before the sun does.
func computing() []fixture {
	return []fixture{
		outOfTime(fixture{name: "endless loop", build: spin}),
		outOfTime(fixture{name: "ten endless loops", build: spin, calls: 10}),
		outOfTime(fixture{name: "endless loop with a large body", build: spinLarge}),
		outOfTime(fixture{name: "loop-free recursion", build: fibonacci}),
		outOfTime(fixture{name: "call tree of distinct functions", build: callTree}),
		outOfTime(fixture{name: "call tree through a table", build: tableTree}),
		outOfTime(fixture{name: "ten call trees", build: callTree, calls: 10}),
		outOfTime(fixture{name: "endless loop of table branches", build: spinTable}),
		outOfTime(fixture{name: "hoarded fuel, spent on waiting for memory", build: hoard, limit: time.Second}),
	}
}

func spin(g *guest) { g.forever(new(wg.Code)) }

// spinLarge has 20,000 instructions without a branch in its loop.
func spinLarge(g *guest) {
	n := g.Global(wg.I64, true, new(wg.Code).I64(0))
	var c wg.Code
	for range 5_000 {
		c.GlobalGet(n).I64(3).Op(wg.I64Add).GlobalSet(n)
	}
	g.forever(&c)
}

func spinTable(g *guest) {
	g.main.Loop(wg.NoResult).Loop(wg.NoResult).Block(wg.NoResult).
		MemorySize().I32(1).Op(wg.I32And).BrTable(1, 1, 2).
		End().End().End()
}

// fibonacci is fib(60) by the definition.
func fibonacci(g *guest) {
	fib := g.Declare(wg.Sig(i32s(1), i64s(1)))
	less := func(n int32) *wg.Code {
		return new(wg.Code).LocalGet(0).I32(n).Op(wg.I32Sub).Call(fib)
	}
	g.Define(fib, new(wg.Code).LocalGet(0).I32(2).Op(wg.I32LtS).
		If(wg.Result(wg.I64)).I64(1).
		Else().Append(less(1)).Append(less(2)).Op(wg.I64Add).
		End())
	g.main.I32(60).Call(fib).Op(wg.Drop)
}

const treeDepth = 48

// callTree has each of its functions call the next one twice.
func callTree(g *guest) {
	next := g.Func(none, new(wg.Code))
	for range treeDepth {
		next = g.Func(none, new(wg.Code).Call(next).Call(next))
	}
	g.main.Call(next)
}

// tableTree does so through a table, where nobody can see who calls whom.
func tableTree(g *guest) {
	table := g.Table(wg.FuncRef, wg.AtLeast(treeDepth+1))
	typ := g.Type(none)
	list := []uint32{g.Func(none, new(wg.Code))}
	for i := range treeDepth {
		step := new(wg.Code).I32(int32(i)).CallIndirect(typ, table)
		list = append(list, g.Func(none, new(wg.Code).Append(step).Append(step)))
	}
	g.Elem(table, new(wg.Code).I32(0), list...)
	g.main.I32(treeDepth).CallIndirect(typ, table)
}

// hoard recurses through functions with loops, each of which might have paid for
// turns that it does not take, and comes back to the top. Then it follows pointers
// all over its memory, which takes longer for a unit of fuel than anything else.
func hoard(g *guest) {
	const cells = 32 << 20 / 64 // of 64 bytes each, a line of the cache
	g.memory = wg.AtLeast(1 + cells*64/page)
	cell := new(wg.Code).LocalGet(0).I32(64).Op(wg.I32Mul)
	next := new(wg.Code).LocalGet(0).I32(1664525).Op(wg.I32Mul).I32(1013904223).Op(wg.I32Add).
		I32(cells - 1).Op(wg.I32And).I32(64).Op(wg.I32Mul)
	link := g.Func(none, new(wg.Code).Loop(wg.NoResult).
		Append(cell).Append(next).Access(wg.I32Store, 2, heap).
		LocalGet(0).I32(1).Op(wg.I32Add).LocalTee(0).I32(cells).Op(wg.I32LtU).BrIf(0).End(),
		wg.Locals{Count: 1, Type: wg.I32})

	deep := g.Declare(wg.Sig(i32s(1), nil))
	g.Define(deep, new(wg.Code).Loop(wg.NoResult).End().Loop(wg.NoResult).End().
		LocalGet(0).If(wg.NoResult).LocalGet(0).I32(1).Op(wg.I32Sub).Call(deep).End())

	chase := new(wg.Code).LocalGet(0)
	for range 100 {
		chase.Access(wg.I32Load, 2, heap)
	}
	chase.LocalSet(0)
	follow := g.Func(none, new(wg.Code).Loop(wg.NoResult).Append(chase).Br(0).End(), wg.Locals{Count: 1, Type: wg.I32})
	g.main.Call(link).I32(50_000).Call(deep).Call(follow)
}
