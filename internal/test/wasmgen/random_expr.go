package wasmgen

import "slices"

// expr writes instructions that leave one value of a type.
func (b *body) expr(t ValType) {
	if b.spent() {
		b.leaf(t)
		return
	}
	b.depth++
	defer func() { b.depth-- }()
	switch b.below(16) {
	case 0, 1:
		b.leaf(t)
	case 2:
		b.structured([]ValType{t})
	case 3:
		b.callFor(t)
	case 4:
		b.expr(t)
		b.expr(t)
		b.expr(I32)
		b.Select(t)
	case 5:
		b.tee(t)
	case 6:
		b.carry(t)
	default:
		b.operation(t)
	}
}

// leaf writes a constant or a variable.
func (b *body) leaf(t ValType) {
	switch b.below(4) {
	case 0:
		b.constant(&b.Code, t)
	case 1:
		for i, v := range b.values {
			if v == t {
				b.GlobalGet(uint32(i))
				return
			}
		}
		b.constant(&b.Code, t)
	default:
		if index, ok := b.choose(t); ok {
			b.LocalGet(index)
			return
		}
		b.constant(&b.Code, t)
	}
}

func (b *body) tee(t ValType) {
	b.expr(t)
	if index, ok := b.choose(t); ok {
		b.LocalTee(index)
	}
}

// carry writes a conditional branch to a label that carries just the type, or,
// seldom, one that is not conditional.
func (b *body) carry(t ValType) {
	if b.oneIn(6) {
		b.branch()
		return
	}
	for range 4 {
		depth, carried := b.label()
		if slices.Equal(carried, []ValType{t}) {
			b.branchIf(depth, carried)
			return
		}
	}
	b.operation(t)
}

// callFor calls a function that has the type among its results.
func (b *body) callFor(t ValType) {
	callee := b.below(len(b.funcs))
	results := b.funcs[callee].Results
	at := slices.Index(results, t)
	if at < 0 {
		b.operation(t)
		return
	}
	b.call(callee)
	b.single(results, at)
}

// single keeps one of the values on the stack.
func (b *body) single(values []ValType, at int) {
	for range values[at+1:] {
		b.Op(Drop)
	}
	if at == 0 {
		return
	}
	held := b.local(values[at])
	b.LocalSet(held)
	for range values[:at] {
		b.Op(Drop)
	}
	b.LocalGet(held)
}

// operation writes an instruction that leaves the type, with its operands.
func (b *body) operation(t ValType) {
	switch t {
	case FuncRef, ExternRef:
		b.reference(t)
		return
	case V128:
		b.vector()
		return
	case I32:
		if b.oneIn(5) {
			b.inquiry()
			return
		}
	}
	if b.hasMemory && b.oneIn(5) {
		b.load(t)
		return
	}
	op := pick(b.source, operations[t])
	if op.traps() && !b.oneIn(4) {
		op = pick(b.source, operations[t])
	}
	b.exprs(op.operands)
	b.Op(op.code)
	if op.float {
		b.canonical(t)
	}
}

// reference writes an element of a table that has elements of the type.
func (b *body) reference(t ValType) {
	for i, e := range b.elements {
		if e == t {
			b.index(6)
			b.TableGet(uint32(i))
			return
		}
	}
	b.leaf(t)
}

// inquiry writes an instruction that looks at, or grows, a memory or table, or
// looks at a vector or a reference.
func (b *body) inquiry() {
	table := b.below(len(b.elements))
	switch choice := b.below(8); {
	case choice == 0:
		b.expr(pick(b.source, []ValType{FuncRef, ExternRef}))
		b.Op(RefIsNull)
	case choice == 1:
		b.TableSize(uint32(table))
	case choice == 2:
		b.expr(b.elements[table])
		b.expr(I32)
		b.I32(3).Op(I32And).TableGrow(uint32(table))
	case choice == 3:
		b.extract(I32)
	case choice < 6 && b.hasMemory:
		b.expr(I32)
		if !b.growMemory || !b.oneIn(4) {
			b.I32(1).Op(I32And)
		}
		b.MemoryGrow()
	case b.hasMemory:
		b.MemorySize()
	default:
		b.leaf(I32)
	}
}

// address writes an address that is mostly within the first page.
func (b *body) address() (offset uint32) {
	b.expr(I32)
	if b.oneIn(16) {
		return uint32(b.number())
	}
	b.I32(pick(b.source, []int32{0xff, 0xfff, 0xffff})).Op(I32And)
	return uint32(b.below(16))
}

func (b *body) load(t ValType) {
	load := pick(b.source, loads[t])
	offset := b.address()
	b.Access(load.code, uint32(b.below(load.align+1)), offset)
}

// canonical makes a number of the value on the stack that is not one.
func (b *body) canonical(t ValType) {
	held := b.local(t)
	b.LocalSet(held).LocalGet(held)
	switch t {
	case F32:
		b.F32(canonical32).LocalGet(held).LocalGet(held).Op(0x5b, SelectAny)
	case F64:
		b.F64(canonical64).LocalGet(held).LocalGet(held).Op(0x61, SelectAny)
	}
}

const (
	canonical32 = 0x7fc00000
	canonical64 = 0x7ff8000000000000
)
