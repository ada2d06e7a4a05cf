package wasmgen

import "slices"

// body makes the code of a function.
func (g *generator) body(index uint32) {
	t := g.funcs[index]
	b := &body{generator: g, size: g.between(5, 255), params: len(t.Params)}
	b.locals = slices.Clone(t.Params)
	for range g.below(6) {
		b.locals = append(b.locals, pick(g.source, allTypes))
	}
	b.own = len(b.locals)
	b.block(t.Results, t.Results)
	locals := make([]Locals, 0, len(b.locals))
	for _, l := range b.locals[b.params:] {
		locals = append(locals, Locals{1, l})
	}
	g.m.Define(index, &b.Code, locals...)
}

// body is a function's code as it grows.
type body struct {
	*generator
	Code

	params int
	locals []ValType // parameters first
	own    int       // locals from here on are not the random code's to set
	labels [][]ValType
	size   int // how much more to write, about
	depth  int // how deep the generator is
}

const maxDepth = 9

// spent reports whether only leaves may be written now.
func (b *body) spent() bool {
	b.size--
	return b.size < 0 || b.depth > maxDepth
}

// local adds a local for the generator's own use.
func (b *body) local(t ValType) uint32 {
	b.locals = append(b.locals, t)
	return uint32(len(b.locals) - 1)
}

// choose chooses the index of a local of a type.
func (b *body) choose(t ValType) (uint32, bool) {
	var of []uint32
	for i, l := range b.locals[:b.own] {
		if l == t {
			of = append(of, uint32(i))
		}
	}
	if len(of) == 0 {
		return 0, false
	}
	return pick(b.source, of), true
}

// charge counts the budget down, or traps.
func (b *body) charge() {
	b.GlobalGet(b.budget).Op(I32Eqz).If(NoResult).Op(Unreachable).End()
	b.GlobalGet(b.budget).I32(1).Op(I32Sub).GlobalSet(b.budget)
}

// block writes what stands within a block that leaves results, and that
// branches leave with what its label says.
func (b *body) block(results, label []ValType) {
	b.labels = append(b.labels, label)
	b.depth++
	for range b.between(b.depth&1, 5) {
		b.statement()
	}
	b.exprs(results)
	b.depth--
	b.labels = b.labels[:len(b.labels)-1]
}

func (b *body) exprs(types []ValType) {
	for _, t := range types {
		b.expr(t)
	}
}

// blockType chooses a way to write a block's type.
func (b *body) blockType(params, results []ValType) BlockType {
	switch {
	case len(params) > 0 || len(results) > 1:
		return TypeIndex(b.m.Type(Sig(params, results)))
	case len(results) == 1:
		return Result(results[0])
	default:
		return NoResult
	}
}

// structured writes a block, loop or if that leaves results.
func (b *body) structured(results []ValType) {
	var params []ValType
	if b.oneIn(4) {
		params = b.types(2)
	}
	b.exprs(params)
	switch b.below(4) {
	case 0:
		b.loop(params, results)
	case 1:
		b.expr(I32)
		b.If(b.blockType(params, results))
		b.keep(params)
		b.block(results, results)
		if len(params)+len(results) > 0 || b.oneIn(2) {
			b.Else()
			b.keep(params)
			b.block(results, results)
		}
		b.End()
	default:
		b.Block(b.blockType(params, results))
		b.keep(params)
		b.block(results, results)
		b.End()
	}
}

// keep takes a block's parameters off the stack.
func (b *body) keep(params []ValType) {
	for _, t := range slices.Backward(params) {
		if index, ok := b.choose(t); ok {
			b.LocalSet(index)
		} else {
			b.Op(Drop)
		}
	}
}

// loop writes a loop of a few turns. Branches to its head from within are
// bounded by the budget alone.
func (b *body) loop(params, results []ValType) {
	counter := b.local(I32)
	b.I32(int32(b.between(1, 5))).LocalSet(counter)
	b.Loop(b.blockType(params, results))
	b.charge()
	b.keep(params)
	b.labels = append(b.labels, params)
	b.depth++
	for range b.below(5) {
		b.statement()
	}
	if !b.oneIn(6) {
		b.exprs(params)
		b.LocalGet(counter).I32(1).Op(I32Sub).LocalTee(counter).BrIf(0)
		b.keep(params)
	}
	b.exprs(results)
	b.depth--
	b.labels = b.labels[:len(b.labels)-1]
	b.End()
}

// label chooses a label by its depth and returns what branches to it carry.
func (b *body) label() (uint32, []ValType) {
	depth := b.below(len(b.labels))
	return uint32(depth), b.labels[len(b.labels)-1-depth]
}

// branch writes a branch that is not conditional, or a return or a trap: what
// follows is never run, and the stack is any.
func (b *body) branch() {
	switch b.below(8) {
	case 0:
		b.Op(Unreachable)
	case 1:
		b.exprs(b.labels[0])
		b.Op(Return)
	case 2, 3, 4:
		b.branchTable()
	default:
		depth, carried := b.label()
		b.exprs(carried)
		b.Br(depth)
	}
}

func (b *body) branchTable() {
	other, carried := b.label()
	var depths []uint32
	for i, label := range slices.Backward(b.labels) {
		if slices.Equal(label, carried) {
			depths = append(depths, uint32(len(b.labels)-1-i))
		}
	}
	targets := make([]uint32, b.below(6))
	for i := range targets {
		targets[i] = pick(b.source, depths)
	}
	b.exprs(carried)
	b.expr(I32)
	if len(targets) > 0 && !b.oneIn(4) {
		b.I32(int32(len(targets) + 1)).Op(I32RemU)
	}
	b.BrTable(other, targets...)
}

// branchIf writes a conditional branch and leaves what it carries.
func (b *body) branchIf(depth uint32, carried []ValType) {
	b.exprs(carried)
	b.expr(I32)
	b.BrIf(depth)
}

// call writes a call, direct or through a table, with its arguments.
func (b *body) call(callee int) {
	t := b.funcs[callee]
	b.charge()
	b.exprs(t.Params)
	if b.oneIn(2) {
		b.Call(uint32(callee))
		return
	}
	b.index(8)
	table := uint32(0)
	if last := len(b.elements) - 1; b.elements[last] == FuncRef && b.oneIn(4) {
		table = uint32(last)
	}
	b.CallIndirect(b.m.Type(t), table)
}

// index writes an index that is mostly small.
func (b *body) index(most int32) {
	b.expr(I32)
	if !b.oneIn(12) {
		b.I32(most).Op(I32RemU)
	}
}
