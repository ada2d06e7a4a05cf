package hostile_test

import (
	"time"

	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
)

// filling takes memory, or goes on writing what it has.
func filling() []fixture {
	return []fixture{
		outOfTime(fixture{name: "straight line of memory.fill", build: fillLine}),
		outOfTime(fixture{name: "straight line of memory.copy", build: copyLine}),
		outOfTime(fixture{name: "straight line of memory.init", build: initLine}),
		outOfTime(fixture{name: "straight line of table.fill", build: tableFillLine}),
		outOfTime(fixture{name: "straight line of table.copy", build: tableCopyLine}),
		outOfTime(fixture{name: "1 GiB copied back and forth", build: copyGiB, memory: 1 << 30}),
		outOfTime(fixture{name: "1 GiB filled over and over", build: fillGiB, memory: 1 << 30}),
		{name: "memory.grow to the end", build: growPages},
		{name: "memory.grow to the end, ten at once", build: growPages, calls: 10},
		{name: "memory.grow at once", build: growAtOnce},
		outOfTime(fixture{name: "memory.grow for ever", build: growForEver}),
		{name: "table.grow to the end", build: growTable},
		{name: "table.grow to the end, ten at once", build: growTable, calls: 10},
		outOfTime(fixture{name: "table.grow for ever", build: growTableForEver}),
		{name: "table.grow at once", build: growTableAtOnce},
		{name: "ten maximal memories", build: wholeMemory, calls: 10, within: 5 * time.Second},
		{name: "ten maximal tables", build: tableOf(maxElements), calls: 10},
		refused(fixture{name: "table of 10 million entries", build: tableOf(10 * million)}, "table"),
		refused(fixture{name: "1,000 tables of a million entries", build: manyTables}, "table"),
		refused(fixture{name: "memory of 4 GiB", build: memory4GiB}, "memory"),
	}
}

// fill fills n bytes above the heap's start.
func fill(n int32) *wg.Code { return new(wg.Code).I32(heap).I32(1).I32(n).MemoryFill() }

func fillLine(g *guest) {
	g.memory = wg.AtLeast(cap64)
	g.repeat(20_000, fill(room))
}

func copyLine(g *guest) {
	g.memory = wg.AtLeast(cap64)
	g.repeat(10_000, new(wg.Code).
		I32(heap+1).I32(heap).I32(room-1).MemoryCopy().
		I32(heap).I32(heap+1).I32(room-1).MemoryCopy())
}

func initLine(g *guest) {
	const size = 8 << 20
	g.memory = wg.AtLeast(cap64)
	segment := g.PassiveData(make([]byte, size))
	g.spread(20_000, new(wg.Code).I32(heap).I32(0).I32(size).MemoryInit(segment))
}

// maxElements is a size of table that is in bounds.
const maxElements = 1 << 20

func tableFillLine(g *guest) {
	table := g.Table(wg.FuncRef, wg.AtLeast(maxElements))
	g.spread(2_000, new(wg.Code).I32(0).RefNull(wg.FuncRef).I32(maxElements).TableFill(table))
}

func tableCopyLine(g *guest) {
	table := g.Table(wg.FuncRef, wg.AtLeast(maxElements))
	g.spread(2_000, new(wg.Code).I32(1).I32(0).I32(maxElements-1).TableCopy(table, table))
}

const gib = 1 << 30

func copyGiB(g *guest) {
	g.memory = wg.AtLeast(gib / page)
	g.repeat(100, new(wg.Code).
		I32(heap+1).I32(heap).I32(gib-heap-1).MemoryCopy().
		I32(heap).I32(heap+1).I32(gib-heap-1).MemoryCopy())
}

func fillGiB(g *guest) {
	g.memory = wg.AtLeast(gib / page)
	g.repeat(100, fill(gib-heap))
}

// growPages grows by a page, writes to it, and grows again until it is refused.
func growPages(g *guest) {
	touch := new(wg.Code).MemorySize().I32(-1).Op(wg.I32Add).I32(page).Op(wg.I32Mul).I32(1).Access(wg.I32Store, 2, 0)
	g.main.Loop(wg.NoResult).Append(touch).I32(1).MemoryGrow().I32(-1).Op(wg.I32Ne).BrIf(0).End()
}

func growAtOnce(g *guest) {
	g.memory = wg.AtLeast(1)
	g.main.I32(cap64 - 1).MemoryGrow().Op(wg.Drop).Append(fill(room))
	g.main.I32(1).MemoryGrow().I32(-1).Op(wg.I32Ne).If(wg.NoResult).Op(wg.Unreachable).End()
	g.main.I32(65535).MemoryGrow().I32(-1).Op(wg.I32Ne).If(wg.NoResult).Op(wg.Unreachable).End()
}

func growForEver(g *guest) { g.forever(new(wg.Code).I32(1).MemoryGrow().Op(wg.Drop)) }

func grow(table uint32, n int32) *wg.Code {
	return new(wg.Code).RefNull(wg.FuncRef).I32(n).TableGrow(table)
}

func growTable(g *guest) {
	table := g.Table(wg.FuncRef, wg.AtLeast(0))
	g.main.Loop(wg.NoResult).Append(grow(table, 1<<12)).I32(-1).Op(wg.I32Ne).BrIf(0).End()
}

func growTableForEver(g *guest) {
	table := g.Table(wg.FuncRef, wg.AtLeast(0))
	g.forever(grow(table, 1).Op(wg.Drop))
}

func growTableAtOnce(g *guest) {
	table := g.Table(wg.FuncRef, wg.AtLeast(0))
	for _, n := range []int32{-1, 1 << 30, 1 << 27} {
		g.main.Append(grow(table, n)).Op(wg.Drop)
	}
}

func wholeMemory(g *guest) {
	g.memory = wg.Between(cap64, cap64)
	g.main.Append(fill(room))
}

func tableOf(n uint32) func(*guest) {
	return func(g *guest) { g.Table(wg.FuncRef, wg.AtLeast(n)) }
}

func manyTables(g *guest) {
	for range 1000 {
		g.Table(wg.FuncRef, wg.AtLeast(maxElements))
	}
}

func memory4GiB(g *guest) { g.memory = wg.AtLeast(65536) }
