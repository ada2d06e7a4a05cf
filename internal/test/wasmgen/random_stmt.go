package wasmgen

// statement writes instructions that leave the stack as it was.
func (b *body) statement() {
	if b.spent() {
		return
	}
	b.depth++
	defer func() { b.depth-- }()
	switch b.below(20) {
	case 0, 1, 2:
		b.assign()
	case 3, 4:
		b.assignGlobal()
	case 5, 6:
		b.store()
	case 7, 8, 9:
		b.structured(nil)
	case 10, 11:
		callee := b.below(len(b.funcs))
		b.call(callee)
		b.keep(b.funcs[callee].Results)
	case 12:
		depth, carried := b.label()
		b.branchIf(depth, carried)
		b.keep(carried)
	case 13:
		b.inIf((*body).branch)
	case 14, 15:
		b.bulk()
	case 16, 17:
		b.table()
	case 18:
		results := b.types(3)
		b.structured(results)
		b.keep(results)
	default:
		b.expr(pick(b.source, allTypes))
		b.Op(Drop)
	}
}

// inIf puts what leaves the stack open into an if.
func (b *body) inIf(what func(*body)) {
	b.expr(I32)
	b.If(NoResult)
	b.labels = append(b.labels, nil)
	what(b)
	b.labels = b.labels[:len(b.labels)-1]
	b.End()
}

func (b *body) assign() {
	if b.own == 0 {
		return
	}
	index := b.below(b.own)
	b.expr(b.locals[index])
	b.LocalSet(uint32(index))
}

func (b *body) assignGlobal() {
	if len(b.values) == 0 {
		return
	}
	index := b.below(len(b.values))
	b.expr(b.values[index])
	if b.fixed[index] {
		b.Op(Drop)
	} else {
		b.GlobalSet(uint32(index))
	}
}

func (b *body) store() {
	if !b.hasMemory {
		return
	}
	t := pick(b.source, []ValType{I32, I64, F32, F64, V128})
	store := pick(b.source, stores[t])
	offset := b.address()
	b.expr(t)
	b.Access(store.code, uint32(b.below(store.align+1)), offset)
}

// length writes a length that is mostly small, sometimes at an edge, sometimes
// far too large.
func (b *body) length() {
	switch b.below(8) {
	case 0:
		b.I32(pick(b.source, []int32{0, 1, 0xffff, 0x10000, 0x10001, -1}))
	case 1:
		b.expr(I32)
	default:
		b.expr(I32)
		b.I32(pick(b.source, []int32{7, 0x3f, 0x1ff})).Op(I32And)
	}
}

// bulk writes an instruction on a run of memory.
func (b *body) bulk() {
	if !b.hasMemory {
		return
	}
	segment := b.data > 0 && b.oneIn(2)
	if segment && b.oneIn(5) {
		b.DataDrop(uint32(b.below(b.data)))
		return
	}
	b.address()
	switch {
	case segment:
		b.index(12)
		b.index(12)
		b.MemoryInit(uint32(b.below(b.data)))
	case b.oneIn(2):
		b.expr(I32)
		b.length()
		b.MemoryFill()
	default:
		b.address()
		b.length()
		b.MemoryCopy()
	}
}

// table writes an instruction that changes a table.
func (b *body) table() {
	to := b.below(len(b.elements))
	from := b.below(len(b.elements))
	kind := b.elements[to]
	switch choice := b.below(8); {
	case choice == 0 && b.elems > 0:
		b.ElemDrop(uint32(b.below(b.elems)))
	case choice < 3 && b.elems > 0 && kind == FuncRef:
		b.runs()
		b.TableInit(uint32(to), uint32(b.below(b.elems)))
	case choice < 5 && b.elements[from] == kind:
		b.runs()
		b.TableCopy(uint32(to), uint32(from))
	case choice < 7:
		b.index(8)
		b.expr(kind)
		b.TableSet(uint32(to))
	default:
		b.index(8)
		b.expr(kind)
		b.index(6)
		b.TableFill(uint32(to))
	}
}

// runs writes destination, source and length of elements.
func (b *body) runs() {
	b.index(8)
	b.index(6)
	b.index(6)
}
