package hostile_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	wg "github.com/toolquay/toolquay/internal/test/wasmgen"
)

const million = 1_000_000

// bloated are modules of which there is too much of something: compilers take
// more time and memory for them than grows with their size.
func bloated() []fixture {
	return []fixture{
		refused(fixture{name: "16,000 nested loops", build: nested((*wg.Code).Loop)}, "nest"),
		refused(fixture{name: "16,000 nested blocks", build: nested((*wg.Code).Block)}, "nest"),
		refused(fixture{name: "16,000 nested ifs", build: nested(nestedIf)}, "nest"),
		refused(fixture{name: "br_table of 160 KB", build: branchTable}, "br_table"),
		refused(fixture{name: "1 million functions", build: millionFunctions}, "function"),
		refused(fixture{name: "1 million types", build: millionTypes}, "type"),
		refused(fixture{name: "500,000 imports", build: manyImports}, "import"),
		refused(fixture{name: "1 million exports", build: millionExports}, "export"),
		refused(fixture{name: "1 million globals", build: millionGlobals}, "global"),
		refused(fixture{name: "1 million data segments", build: millionData}, "segment"),
		refused(fixture{name: "1 million element segments", build: millionElems}, "segment"),
		refused(fixture{name: "an export's name of 1 MB", build: longName}, "name"),
		refused(fixture{name: "10 million locals in one function", build: locals(1, 10*million)}, "local"),
		refused(fixture{name: "10 million locals in 200 functions", build: locals(200, 50_000)}, "local"),
		{name: "10 million locals in 500 functions", build: locals(500, 20_000)},
		refused(fixture{name: "5,000 loops and 5,000 locals", build: loopsAndLocals(5000, 5000)}, "merged locals"),
		refused(fixture{name: "1,000 loops and 10,000 locals", build: loopsAndLocals(1000, 10_000)}, "merged locals"),
		refused(fixture{name: "50,000 table.fill in one function", build: manyTableFills}, "table"),
		// Time or memory gives out, whichever is first.
		refused(fixture{name: "one function of 4 MB", build: longFunction, compile: 2 * time.Second}),
		refused(fixture{name: "4 billion locals", build: locals(1, 1<<32-1)}, "local"),
		refused(fixture{name: "500 MiB of data, declared", build: declaredData}, "data"),
		refused(fixture{name: "500 MiB of data, real", file: sparse}, "over the limit"),
		{name: "30 MiB of data, real", build: realData(30)},
		refused(fixture{name: "60 MiB of data, real", build: realData(60)}, "over the"),
		refused(fixture{name: "a vector said to have 4 billion entries", build: shortVector}, ""),
	}
}

func nested(open func(*wg.Code, wg.BlockType) *wg.Code) func(*guest) {
	return func(g *guest) {
		const depth = 16_000
		for range depth {
			open(&g.main, wg.NoResult)
		}
		for range depth {
			g.main.End()
		}
	}
}

func nestedIf(c *wg.Code, t wg.BlockType) *wg.Code { return c.I32(1).If(t) }

func branchTable(g *guest) {
	g.main.Block(wg.NoResult).I32(0).BrTable(0, make([]uint32, 160_000)...).End()
}

func millionFunctions(g *guest) {
	for range million {
		g.Declare(none)
	}
}

func millionTypes(g *guest) {
	for range million {
		g.AddType(none)
	}
}

// manyImports stays below what a module may weigh.
func manyImports(g *guest) {
	for range million / 2 {
		g.wasi("sched_yield")
	}
}

func millionExports(g *guest) {
	f := g.Func(none, new(wg.Code))
	for i := range million {
		g.Export(fmt.Sprint("e", i), wg.Function, f)
	}
}

func millionGlobals(g *guest) {
	for range million {
		g.Global(wg.I32, true, new(wg.Code).I32(0))
	}
}

func millionData(g *guest) {
	for range million {
		g.Data(new(wg.Code).I32(0), nil)
	}
}

func millionElems(g *guest) {
	table := g.Table(wg.FuncRef, wg.AtLeast(1))
	for range million {
		g.Elem(table, new(wg.Code).I32(0))
	}
}

func longName(g *guest) {
	g.Export(string(make([]byte, million)), wg.Function, g.Func(none, new(wg.Code)))
}

func locals(functions int, each uint32) func(*guest) {
	return func(g *guest) {
		for range functions {
			g.Func(none, new(wg.Code), wg.Locals{Count: each, Type: wg.I64})
		}
	}
}

// loopsAndLocals has a function whose every loop changes every local: compilers
// that hold a value for each at each place where control flow meets take their
// product.
func loopsAndLocals(loops int, n uint32) func(*guest) {
	return func(g *guest) {
		var c wg.Code
		for i := range loops {
			local := uint32(i) % n
			c.Loop(wg.NoResult).LocalGet(local).I64(1).Op(wg.I64Add).LocalSet(local).
				LocalGet(local).Op(wg.I64Eqz).BrIf(0).End()
		}
		g.Func(none, &c, wg.Locals{Count: n, Type: wg.I64})
	}
}

// manyTableFills has an instruction over and over that compilers turn into a
// loop.
func manyTableFills(g *guest) {
	table := g.Table(wg.FuncRef, wg.AtLeast(1))
	var c wg.Code
	for range 50_000 {
		c.I32(0).RefNull(wg.FuncRef).I32(0).TableFill(table)
	}
	g.Func(none, &c)
}

// longFunction is a single expression that keeps a thousand operands alive.
func longFunction(g *guest) {
	n := g.Global(wg.I64, true, new(wg.Code).I64(1))
	var c wg.Code
	for c.Len() < 4_000_000 {
		for range 1000 {
			c.GlobalGet(n).I64(3).Op(wg.I64Add)
		}
		for range 999 {
			c.Op(wg.I64Sub)
		}
		c.GlobalSet(n)
	}
	g.Func(none, &c)
}

const sectionData = 11

// declaredData says that 500 MiB of data follow, and has none.
func declaredData(g *guest) {
	segment := []byte{1, 0, 0x41, 0, 0x0b} // one segment, active, at i32.const 0
	g.plain = true
	g.Memory(wg.AtLeast(cap64))
	g.Raw(sectionData, sectionData, binary.AppendUvarint(segment, 500<<20))
}

// sparse is a file of 500 MiB that takes no room.
func sparse(path string) error {
	if err := os.WriteFile(path, []byte("\x00asm\x01\x00\x00\x00"), 0o600); err != nil {
		return err
	}
	return os.Truncate(path, 500<<20)
}

func realData(mib int) func(*guest) {
	return func(g *guest) {
		g.memory = wg.AtLeast(cap64)
		g.Data(new(wg.Code).I32(heap), make([]byte, mib<<20))
	}
}

// shortVector is a type section that says it has 2^32-1 entries, and has none.
func shortVector(g *guest) {
	const sectionType = 1
	g.plain = true
	g.Raw(0, sectionType, binary.AppendUvarint(nil, 1<<32-1))
}
