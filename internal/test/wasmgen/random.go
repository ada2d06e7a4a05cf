package wasmgen

import (
	"math/rand/v2"
	"strconv"
)

// BudgetGlobal is the name under which a random module exports the mutable i32
// global that it counts down before each call and each turn of a loop, and traps
// when it finds it at zero. It starts at [Budget]; whoever calls the module more
// than once sets it again. So every call ends, within a depth of [Budget].
const BudgetGlobal = "budget"

// Budget is what [BudgetGlobal] starts at.
const Budget = 700

// HostModule is the module that half of the random modules import one or two
// functions from: [Reenter], of type [i32] -> [i32], and "any", of any type.
// Reenter is meant to call an export of the instance that calls it.
const (
	HostModule = "host"
	Reenter    = "reenter"
)

// Random makes a module of any bytes: always valid by WebAssembly 2.0, and the
// same one of the same bytes. Few bytes suffice for a large module; more of them
// choose more of it.
//
// It imports nothing but functions of [HostModule], if that.
// It exports its functions as f0, f1 ..., its globals as g0 ..., its tables as t0
// ..., its memory as memory; and for each table a function t0.size that returns
// its size, and t0.null that takes any number and returns whether the element at
// that index, modulo the size, is null; and for each global of type v128 a function g0.high that returns its upper
// half, where embedders see the lower one alone. Every call of an export ends, in a result or a trap, in bounded time
// (see [BudgetGlobal]) and memory. Floating-point results that are not a number
// are made the canonical one, so that all engines agree on every bit.
func Random(data []byte) []byte { return generate(newSource(data)) }

// Seeded makes a module as [Random] does, of pseudo-random choices alone.
func Seeded(seed uint64) []byte {
	return generate(&source{rest: rand.NewPCG(seed, seed)})
}

func generate(s *source) []byte {
	g := &generator{source: s}
	g.memory()
	g.signatures()
	g.tables()
	g.globals()
	g.segments()
	for i := range g.funcs[g.imported:] {
		g.body(uint32(g.imported + i))
	}
	g.inspectors()
	if g.oneIn(16) {
		g.startFunction()
	}
	return g.m.Bytes()
}

// generator makes one random module.
type generator struct {
	*source
	m        Module
	funcs    []FuncType
	imported int       // how many of them are
	values   []ValType // what global variables there are
	fixed    []bool    // which of them are immutable
	budget   uint32    // index of BudgetGlobal

	elements   []ValType // the tables' types
	data       int       // number of data segments
	elems      int       // number of element segments
	hasMemory  bool
	growMemory bool // whether growing it is bounded by its maximum
}

var (
	numbers  = []ValType{I32, I64, F32, F64}
	allTypes = []ValType{I32, I64, F32, F64, I32, I64, I32, V128, FuncRef, ExternRef}
)

func (g *generator) types(most int) []ValType {
	out := make([]ValType, g.below(most+1))
	for i := range out {
		out[i] = pick(g.source, allTypes)
	}
	return out
}

func (g *generator) memory() {
	g.hasMemory = !g.oneIn(16)
	if !g.hasMemory {
		return
	}
	limits := AtLeast(1)
	if g.oneIn(8) {
		limits.Min = uint32(g.below(3))
	}
	if !g.oneIn(4) {
		limits = Between(limits.Min, limits.Min+uint32(g.below(4)))
	}
	g.growMemory = limits.Bounded
	g.m.Export("memory", Memory, g.m.Memory(limits))
}

func (g *generator) signatures() {
	if g.oneIn(2) {
		g.imports()
	}
	for i := range g.between(1, 10) {
		t := Sig(g.types(4), g.types(2))
		g.funcs = append(g.funcs, t)
		g.m.Export("f"+strconv.Itoa(i), Function, g.m.Declare(t))
	}
}

func (g *generator) imports() {
	reenter := Sig([]ValType{I32}, []ValType{I32})
	g.m.ImportFunc(HostModule, Reenter, reenter)
	g.funcs = append(g.funcs, reenter)
	if g.oneIn(2) {
		t := Sig(g.types(4), g.types(2))
		g.m.ImportFunc(HostModule, "any", t)
		g.funcs = append(g.funcs, t)
	}
	g.imported = len(g.funcs)
}

func (g *generator) tables() {
	for i := range g.between(1, 3) {
		t := FuncRef
		if i > 0 && g.oneIn(2) {
			t = ExternRef
		}
		limits := AtLeast(uint32(g.between(0, 16)))
		if g.oneIn(2) {
			limits = Between(limits.Min, limits.Min+uint32(g.below(8)))
		}
		g.elements = append(g.elements, t)
		g.m.Export("t"+strconv.Itoa(i), Table, g.m.Table(t, limits))
	}
}

func (g *generator) globals() {
	for i := range g.below(7) {
		t, fixed := pick(g.source, allTypes), g.oneIn(4)
		var init Code
		g.constant(&init, t)
		g.values, g.fixed = append(g.values, t), append(g.fixed, fixed)
		g.m.Export("g"+strconv.Itoa(i), Global, g.m.Global(t, !fixed, &init))
	}
	g.budget = g.m.Global(I32, true, new(Code).I32(Budget))
	g.m.Export(BudgetGlobal, Global, g.budget)
}

// constant writes a constant of a type.
func (g *generator) constant(c *Code, t ValType) {
	switch t {
	case I32:
		c.I32(int32(g.number()))
	case I64:
		c.I64(int64(g.number()))
	case F32:
		c.F32(uint32(g.number()))
	case F64:
		c.F64(g.number())
	case V128:
		c.V128(g.number(), g.number())
	case FuncRef:
		if g.oneIn(3) {
			c.RefNull(t)
			return
		}
		c.RefFunc(uint32(g.below(len(g.funcs))))
	default:
		c.RefNull(t)
	}
}

func (g *generator) segments() {
	if g.hasMemory {
		for range g.below(4) {
			g.dataSegment()
		}
	}
	if g.imported > 0 {
		// Nothing else need mention them, and then ref.func may not.
		declared := []uint32{0, uint32(g.imported - 1)}
		g.m.DeclareElem(declared...)
		g.elems++
	}
	for range g.below(4) {
		g.elemSegment()
	}
}

func (g *generator) dataSegment() {
	bytes := make([]byte, g.below(24))
	for i := range bytes {
		bytes[i] = g.byte()
	}
	if g.oneIn(2) {
		g.m.PassiveData(bytes)
	} else {
		g.m.Data(new(Code).I32(g.offset(0x1000)), bytes)
	}
	g.data++
}

func (g *generator) elemSegment() {
	funcs := make([]uint32, g.below(6))
	for i := range funcs {
		funcs[i] = uint32(g.below(len(g.funcs)))
	}
	if g.oneIn(2) {
		g.m.PassiveElem(funcs...)
	} else {
		g.m.Elem(0, new(Code).I32(g.offset(8)), funcs...)
	}
	g.elems++
}

// offset chooses where an active segment goes; seldom where it cannot fit.
func (g *generator) offset(most int32) int32 {
	if g.oneIn(64) {
		return int32(g.number())
	}
	return int32(g.uint64() % uint64(most))
}

// inspectors are the functions that show what an embedder cannot see.
func (g *generator) inspectors() {
	for i := range g.elements {
		name, table := "t"+strconv.Itoa(i), uint32(i)
		size := g.m.Func(Sig(nil, []ValType{I32}), new(Code).TableSize(table))
		g.m.Export(name+".size", Function, size)
		null := new(Code).LocalGet(0).TableSize(table).Op(I32RemU).TableGet(table).Op(RefIsNull)
		g.m.Export(name+".null", Function, g.m.Func(Sig([]ValType{I32}, []ValType{I32}), null))
	}
	for i, t := range g.values {
		if t == V128 {
			high := new(Code).GlobalGet(uint32(i)).Op(prefixVector + 29).Raw(1) // i64x2.extract_lane
			g.m.Export("g"+strconv.Itoa(i)+".high", Function, g.m.Func(Sig(nil, []ValType{I64}), high))
		}
	}
}

// startFunction makes the module call a function when it is instantiated.
func (g *generator) startFunction() {
	callee := g.below(len(g.funcs))
	var c Code
	for _, p := range g.funcs[callee].Params {
		g.constant(&c, p)
	}
	c.Call(uint32(callee))
	for range g.funcs[callee].Results {
		c.Op(Drop)
	}
	g.m.Start(g.m.Func(FuncType{}, &c))
}
