package proof

import (
	"testing"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
)

// TestAccountingOfCases holds modules against the law that are built to find
// each a hole of their own in it. All export run, of type [i32] -> [], whose
// argument most take as a number of turns.
func TestAccountingOfCases(t *testing.T) {
	t.Parallel()
	free := perEntry(t)
	for name, build := range accountingCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worst := newRatios(free)
			b := &caseBuilder{}
			build(b)
			runAccount(t, engines()[0], b.m.Bytes(), name, []uint64{0, 1, 2, 7, 500}, worst)
			t.Log(worst)
		})
	}
}

// caseBuilder helps to write a case.
type caseBuilder struct{ m wasmgen.Module }

func code() *wasmgen.Code { return new(wasmgen.Code) }

// run defines the exported function, with a local 1 of type i32 for its use.
func (b *caseBuilder) run(body *wasmgen.Code) { b.m.Export("run", wasmgen.Function, b.unary(body)) }

// unary adds a function of type [i32] -> [] with a local 1 of type i32.
func (b *caseBuilder) unary(body *wasmgen.Code) uint32 {
	return b.m.Func(oneI32, body, wasmgen.Locals{Count: 1, Type: wasmgen.I32})
}

// turns does something local 0 times.
func turns(body *wasmgen.Code) *wasmgen.Code {
	c := code().Block(wasmgen.NoResult).Loop(wasmgen.NoResult)
	c.LocalGet(0).Op(wasmgen.I32Eqz).BrIf(1)
	c.LocalGet(0).I32(1).Op(wasmgen.I32Sub).LocalSet(0)
	return c.Append(body).Br(0).End().End()
}

// line is a straight line of about n units of fuel.
func line(n int) *wasmgen.Code {
	c := code()
	for range n / 3 {
		c.LocalGet(1).I32(5).Op(wasmgen.I32Add).LocalSet(1)
	}
	return c
}

// odd leaves whether bit i of local 0 is set.
func odd(i int32) *wasmgen.Code { return code().LocalGet(0).I32(1 << i).Op(wasmgen.I32And) }

// always and never leave a condition that no compiler and no pre-pass looks
// through.
func always() *wasmgen.Code { return code().LocalGet(1).I32(7).Op(wasmgen.I32Ne) }
func never() *wasmgen.Code  { return code().LocalGet(1).I32(7).Op(wasmgen.I32Eq) }

// calls is as many calls as go into one stretch of code that is charged for at
// once, of functions as heavy as those that pay nothing themselves.
func (b *caseBuilder) calls() *wasmgen.Code {
	return repeat(15, code().LocalGet(0).Call(b.unary(line(140))))
}

// arms leaves results values by an if of two arms, and drops them.
func (b *caseBuilder) arms(results int) *wasmgen.Code {
	c := odd(0).If(wasmgen.TypeIndex(b.m.Type(wasmgen.Sig(nil, values(results)))))
	for arm := range 2 {
		if arm > 0 {
			c.Else()
		}
		for i := range results {
			c.LocalGet(uint32(i+arm) % 2)
		}
	}
	c.End()
	for range results {
		c.Op(wasmgen.Drop)
	}
	return c
}

// tree makes functions of which each calls the next a number of times, and the
// last one is a line. It returns the first one.
func (b *caseBuilder) tree(depth, children, leaf int) uint32 {
	f := b.unary(line(leaf))
	for range depth {
		c := code()
		for range children {
			c.LocalGet(0).Call(f)
		}
		f = b.unary(c)
	}
	return f
}

// indirectTree is a tree whose calls go through a table.
func (b *caseBuilder) indirectTree(depth, children int) {
	table := b.m.Table(wasmgen.FuncRef, wasmgen.AtLeast(uint32(depth)+1))
	typ := b.m.Type(oneI32)
	funcs := []uint32{b.unary(line(36))}
	for i := range depth {
		c := code()
		for range children {
			c.LocalGet(0).I32(int32(i)).CallIndirect(typ, table)
		}
		funcs = append(funcs, b.unary(c))
	}
	b.m.Elem(table, code().I32(0), funcs...)
	b.run(code().LocalGet(0).I32(int32(depth)).CallIndirect(typ, table))
}

// tails makes functions that end in a call of the next.
func (b *caseBuilder) tails(length int) uint32 {
	f := b.unary(line(60))
	for range length {
		f = b.unary(line(60).LocalGet(0).Raw(opTailCall).U32(f))
	}
	return f
}

// ends is blocks in blocks that a branch leaves the innermost of: it lands among
// the ends of all of them, behind the beginning of the code that these are part
// of.
func ends(depth int) *wasmgen.Code {
	c := code()
	for range depth {
		c.Block(wasmgen.NoResult)
	}
	c.Append(always()).BrIf(0).Append(line(330))
	for range depth {
		c.End()
	}
	return c
}

// repeat is code a number of times.
func repeat(n int, what *wasmgen.Code) *wasmgen.Code {
	c := code()
	for range n {
		c.Append(what)
	}
	return c
}

var accountingCases = map[string]func(b *caseBuilder){
	"binary tree":             func(b *caseBuilder) { b.run(code().LocalGet(0).Call(b.tree(16, 2, 9))) },
	"binary tree under limit": func(b *caseBuilder) { b.run(code().LocalGet(0).Call(b.tree(14, 2, 150))) },
	"tree of ten":             func(b *caseBuilder) { b.run(turns(code().LocalGet(0).Call(b.tree(3, 10, 3)))) },
	"chain":                   func(b *caseBuilder) { b.run(turns(code().LocalGet(0).Call(b.tree(1000, 1, 30)))) },
	"empty tree":              func(b *caseBuilder) { b.run(code().LocalGet(0).Call(b.tree(6, 10, 0))) },
	"indirect binary tree":    func(b *caseBuilder) { b.indirectTree(14, 2) },
	"indirect tree of ten":    func(b *caseBuilder) { b.indirectTree(4, 10) },
	"under the limit": func(b *caseBuilder) {
		last := b.unary(line(150))
		for i := range 1000 {
			c := line(120 + i%40)
			if i%3 == 0 {
				c = line(i % 60)
			}
			last = b.unary(c.LocalGet(0).Call(last))
		}
		b.run(turns(code().LocalGet(0).Call(last)))
	},
	"mutual recursion": func(b *caseBuilder) {
		even, odd := b.m.Declare(oneI32), b.m.Declare(oneI32)
		for i, f := range []uint32{even, odd} {
			c := code().LocalGet(0).Op(wasmgen.I32Eqz).BrIf(0).Append(line(90 * i))
			c.LocalGet(0).I32(1).Op(wasmgen.I32Sub).Call([]uint32{odd, even}[i])
			b.m.Define(f, c, wasmgen.Locals{Count: 1, Type: wasmgen.I32})
		}
		b.run(code().LocalGet(0).Call(even))
	},
	"recursion through a table": func(b *caseBuilder) {
		table, typ := b.m.Table(wasmgen.FuncRef, wasmgen.AtLeast(1)), b.m.Type(oneI32)
		c := code().LocalGet(0).Op(wasmgen.I32Eqz).BrIf(0)
		f := b.unary(c.LocalGet(0).I32(1).Op(wasmgen.I32Sub).I32(0).CallIndirect(typ, table))
		b.m.Elem(table, code().I32(0), f)
		b.run(code().LocalGet(0).Call(f))
	},
	"loop of br_table": func(b *caseBuilder) {
		c := code().Block(wasmgen.NoResult).Loop(wasmgen.NoResult).Loop(wasmgen.NoResult).Block(wasmgen.NoResult)
		c.LocalGet(0).I32(1).Op(wasmgen.I32Sub).LocalTee(0).I32(7).Op(wasmgen.I32RemU).BrTable(1, 0, 2, 1, 2, 3).End()
		b.run(c.Br(0).End().End().End())
	},
	"loop with parameters": func(b *caseBuilder) {
		typ := wasmgen.TypeIndex(b.m.Type(wasmgen.Sig(values(3), nil)))
		c := code().LocalGet(0).LocalGet(0).LocalGet(0).Loop(typ).Op(wasmgen.Drop, wasmgen.Drop, wasmgen.Drop)
		c.LocalGet(1).LocalGet(1).LocalGet(0).I32(1).Op(wasmgen.I32Sub).LocalTee(0)
		b.run(c.LocalGet(0).I32(0).Op(wasmgen.I32GtS).BrIf(0).Op(wasmgen.Drop, wasmgen.Drop, wasmgen.Drop).End())
	},
	"loop left and entered again": func(b *caseBuilder) {
		inner := code().Block(wasmgen.NoResult).Append(line(400)).Loop(wasmgen.NoResult).Append(odd(0)).BrIf(1)
		inner.Append(line(300)).Append(odd(1)).BrIf(1).Append(line(300)).End().Append(line(200)).End()
		b.run(turns(inner.Append(line(400))))
	},
	"return at the beginning": func(b *caseBuilder) {
		f := b.unary(code().LocalGet(0).BrIf(0).Append(line(2000)))
		b.run(turns(code().LocalGet(0).Call(f)))
	},
	"return at the end": func(b *caseBuilder) {
		f := b.unary(line(2000).LocalGet(0).BrIf(0).Append(line(2000)))
		b.run(turns(code().LocalGet(0).Call(f)))
	},
	"arms of different weight": func(b *caseBuilder) {
		c := code()
		for i := range int32(8) {
			c.Append(odd(i % 3)).If(wasmgen.NoResult).Append(line(1000)).Else().Append(line(3)).End()
			c.Append(odd(i % 2)).If(wasmgen.NoResult).Append(line(3)).Else().Append(line(700)).End()
			c.Append(odd(i % 4)).If(wasmgen.NoResult).Append(line(500)).End()
		}
		b.run(turns(c))
	},
	"arms of many values": func(b *caseBuilder) {
		b.run(turns(repeat(50, b.arms(128))))
	},
	"branches over chunks": func(b *caseBuilder) {
		c := code()
		for i := range 40 {
			c.Block(wasmgen.NoResult).Block(wasmgen.NoResult).Append(line(170 * (i % 3)))
			c.Append(odd(int32(i % 3))).BrIf(uint32(i % 2)).Append(line(100 + i)).End()
			c.Append(line(155)).Append(odd(1)).BrIf(0).Append(line(300)).End().Append(line(157))
		}
		b.run(turns(c))
	},
	"calls behind a branch": func(b *caseBuilder) {
		over := code().Block(wasmgen.NoResult).Append(always()).BrIf(0).Append(line(330)).End()
		b.run(repeat(10, line(150).Append(over).Append(b.calls())))
	},
	"calls behind an if": func(b *caseBuilder) {
		over := never().If(wasmgen.NoResult).Append(line(330)).End()
		b.run(repeat(10, line(150).Append(over).Append(b.calls())))
	},
	"calls in the other arm": func(b *caseBuilder) {
		over := never().If(wasmgen.NoResult).Append(line(330)).Else().Append(b.calls()).End()
		b.run(repeat(10, line(150).Append(over)))
	},
	"calls behind the other arm": func(b *caseBuilder) {
		over := always().If(wasmgen.NoResult).Append(line(3)).Else().Append(line(330)).End()
		b.run(repeat(10, line(150).Append(over).Append(b.calls())))
	},
	"from the first chunk": func(b *caseBuilder) {
		c := repeat(30, code().Block(wasmgen.NoResult))
		for i := range 30 {
			c.Append(odd(int32(i % 9))).BrIf(uint32(29 - i))
		}
		for range 30 {
			c.Append(line(400)).End()
		}
		b.run(turns(c))
	},
	"ends behind a branch": func(b *caseBuilder) { b.run(line(330).Append(repeat(12, ends(600)))) },
	"ends in a loop":       func(b *caseBuilder) { b.run(turns(line(330).Append(repeat(20, ends(500))))) },
	"tail calls":           func(b *caseBuilder) { b.run(turns(code().LocalGet(0).Call(b.tails(500)))) },
	"loop of tail calls": func(b *caseBuilder) {
		f := b.m.Declare(oneI32)
		c := code().LocalGet(0).Op(wasmgen.I32Eqz).BrIf(0).Append(line(100)).LocalGet(0).I32(1).Op(wasmgen.I32Sub)
		b.m.Define(f, c.Raw(opTailCall).U32(f), wasmgen.Locals{Count: 1, Type: wasmgen.I32})
		b.run(code().LocalGet(0).Call(f))
	},
	"tail calls out of loops": func(b *caseBuilder) {
		f := b.m.Declare(oneI32)
		c := code().LocalGet(0).Raw(opTailCall).U32(f)
		b.m.Define(f, turns(line(30).Append(c)), wasmgen.Locals{Count: 1, Type: wasmgen.I32})
		b.run(code().LocalGet(0).Call(f))
	},
	"loop of indirect tail calls": func(b *caseBuilder) {
		table, typ := b.m.Table(wasmgen.FuncRef, wasmgen.AtLeast(1)), b.m.Type(oneI32)
		c := code().LocalGet(0).Op(wasmgen.I32Eqz).BrIf(0).LocalGet(0).I32(1).Op(wasmgen.I32Sub).I32(0)
		f := b.unary(c.Raw(opTailIndirect).U32(typ).U32(table))
		b.m.Elem(table, code().I32(0), f)
		b.run(code().LocalGet(0).Call(f))
	},
	"trap in the middle": func(b *caseBuilder) {
		c := line(500).I32(1).LocalGet(0).I32(3).Op(wasmgen.I32And, wasmgen.I32DivS, wasmgen.Drop)
		b.run(turns(c.Append(line(500))))
	},
	"imports": func(b *caseBuilder) {
		f := b.m.ImportFunc("some", "function", oneI32)
		b.run(turns(repeat(20, code().LocalGet(0).Call(f))))
	},
	"short fills": func(b *caseBuilder) {
		b.m.Memory(wasmgen.AtLeast(1))
		c := code()
		for i := range int32(200) {
			c.I32(i).I32(i).I32(i * 6).MemoryFill().I32(0).I32(i).LocalGet(0).MemoryFill().I32(i).I32(9).I32(i).MemoryCopy()
		}
		b.run(turns(c))
	},
	"growing": func(b *caseBuilder) {
		b.m.Memory(wasmgen.AtLeast(1))
		table := b.m.Table(wasmgen.ExternRef, wasmgen.AtLeast(0))
		c := code().I32(1).MemoryGrow().Op(wasmgen.Drop).RefNull(wasmgen.ExternRef).I32(100).TableGrow(table)
		b.run(turns(c.Op(wasmgen.Drop).I32(-1).MemoryGrow().Op(wasmgen.Drop)))
	},
	"tables": func(b *caseBuilder) {
		table := b.m.Table(wasmgen.FuncRef, wasmgen.AtLeast(9))
		b.run(turns(repeat(300, code().I32(1).I32(2).TableGet(table).TableSet(table).I32(3).RefNull(wasmgen.FuncRef).I32(4).TableFill(table))))
	},
	"chain of br_if": func(b *caseBuilder) {
		c := repeat(300, code().Block(wasmgen.NoResult))
		for i := range 300 {
			c.Append(odd(int32(i % 9))).BrIf(uint32(i * 7 % 300))
		}
		b.run(turns(c.Append(repeat(300, code().End()))))
	},
	"select": func(b *caseBuilder) {
		c := code().LocalGet(0).LocalGet(1).LocalGet(0).Op(wasmgen.SelectAny, wasmgen.Drop)
		b.run(turns(repeat(1000, c)))
	},
	"unreachable code": func(b *caseBuilder) {
		dead := code().Op(wasmgen.Unreachable).Loop(wasmgen.NoResult).Br(0).End().Append(line(300)).Br(1)
		c := code().Block(wasmgen.NoResult).Append(line(170)).Block(wasmgen.NoResult).Br(0).Append(dead).End()
		b.run(turns(c.Append(line(200)).Br(0).Append(dead).End().Append(line(100))))
	},
}
