package prepass

// codeSection writes the functions.
func (e *encoder) codeSection() {
	if !e.active {
		e.copySection(secCode)
		return
	}
	e.w.byte(secCode)
	section := e.w.open()
	e.w.u32(uint32(len(e.m.code.bodies) + e.helperCount()))
	for i := range e.m.code.bodies {
		start := e.w.open()
		e.body(i)
		e.w.close(start)
	}
	for h, used := range e.uses {
		if used {
			start := e.w.open()
			e.writeHelper(h)
			e.w.close(start)
		}
	}
	e.w.close(section)
}

// body writes a function body with all edits.
func (e *encoder) body(i int) {
	w, b := &e.w, &e.m.code.bodies[i]
	edits, _, _, _ := e.m.code.runs(i)
	f := function{
		body: b, frame: e.plan.frame[i], advance: e.plan.advance[i], oneLoop: e.plan.oneLoop[i],
		free: e.plan.free[i] > 0, first: edits[0].arg,
	}
	e.locals(&f)
	if f.frame > 0 {
		e.takeFrame(f.frame)
	}
	e.chargeEntry(&f)
	if f.wrapped() {
		e.wrap(i)
	}
	at := b.instrs.start
	for _, x := range edits[1:] {
		e.copySpan(span{at, x.pos})
		at = x.pos + e.edit(x, &f)
	}
	e.copySpan(span{at, b.instrs.end})
	if f.wrapped() {
		e.giveBack(&f)
		w.byte(opEnd)
	}
}

// function is a function while its body is written.
type function struct {
	*body
	frame, advance uint32
	oneLoop, free  bool
	// first is the chunk at the entry.
	first uint32
}

// counts says that the loops count down what the function paid in advance.
// Without that, they charge for each turn.
func (f *function) counts() bool { return f.advance > 0 }

// counter is the local that the loops count down.
func (f *function) counter() uint32 { return uint32(f.body.locals) }

// length is the local that holds the length of a bulk operation.
func (f *function) length() uint32 {
	if f.counts() {
		return f.counter() + 1
	}
	return f.counter()
}

// wrapped says that there is something to give back at the end.
func (f *function) wrapped() bool { return f.frame > 0 || f.counts() }

// locals writes the declarations, with one for the loops' counter.
func (e *encoder) locals(f *function) {
	var added uint32
	if f.counts() {
		added++
	}
	if f.bulk {
		added++
	}
	if added == 0 {
		e.w.u32(f.groups)
		e.copySpan(f.decls)
		return
	}
	e.w.u32(f.groups + 1)
	e.copySpan(f.decls)
	e.w.u32(added)
	e.w.byte(typeI32)
}

// edit does one edit and returns how many of the original bytes it stands for.
func (e *encoder) edit(x edit, f *function) int {
	w := &e.w
	switch x.kind {
	case editCharge:
		e.charge(x, f)
	case editCall:
		w.u32(e.fn(x.arg))
	case editHelper:
		w.call(e.helper[x.arg])
	case editBulk:
		e.bulk(x, f)
	case editReturn:
		if !f.wrapped() {
			return 0
		}
		w.byte(opBr)
		w.u32(x.arg)
	case editTail:
		e.giveBack(f)
	case editBranch:
		w.u32(x.arg)
	case editLoopEnd:
		w.byte(opElse)
		e.replenish(x.arg, f)
		w.byte(opBr, 1, opEnd)
	}
	return int(x.skip)
}

// chargeEntry charges a call for the function's first chunk, and in advance for
// its loops.
func (e *encoder) chargeEntry(f *function) {
	if f.free || f.oneLoop {
		return
	}
	weight := int64(e.weight(f.first))
	if f.counts() {
		e.w.i32(int32(f.advance))
		e.w.localSet(f.counter())
		weight += int64(f.advance)
	}
	e.take(func() { e.w.i64(weight) })
}

// weight is what a chunk costs.
func (e *encoder) weight(chunk uint32) uint32 {
	c := &e.m.code.chunks[chunk]
	return addSat(c.weight, c.extra)
}

// charge charges for a chunk: out of what was paid in advance where the function
// counts, and out of the fuel elsewhere.
func (e *encoder) charge(x edit, f *function) {
	switch c := &e.m.code.chunks[x.arg]; {
	case f.free:
	case f.counts():
		e.count(x, f)
	case c.blockType > 0:
		e.pay(func() { e.w.i64(e.turn(x.arg, f)) })
		e.left()
		e.beginTurn(x, opI64GeS)
	default:
		e.take(func() { e.w.i64(int64(e.weight(x.arg))) })
	}
}

// turn is what a turn of a loop costs that pays for each, and where it is the only
// one perhaps for the function as well.
func (e *encoder) turn(head uint32, f *function) int64 {
	weight := e.weight(head)
	if f.oneLoop {
		weight = addSat(weight, e.weight(f.first))
	}
	return int64(weight)
}

// count counts a chunk down.
func (e *encoder) count(x edit, f *function) {
	w, c := &e.w, &e.m.code.chunks[x.arg]
	weight := e.weight(x.arg)
	// More than the counter ever holds would send a loop back to its head for
	// ever.
	if heavy := weight - min(weight, f.advance/2); heavy > 0 {
		e.take(func() { w.i64(int64(heavy)) })
		weight -= heavy
	}
	w.localGet(f.counter())
	w.i32(int32(weight))
	w.byte(opI32Sub)
	w.localTee(f.counter())
	w.i32(0)
	if c.blockType > 0 {
		e.beginTurn(x, opI32GeS)
		return
	}
	e.unless(opI32GeS, func() { e.settle(c, f) })
}

// beginTurn opens the block that a loop is given, where the comparison holds. The
// rest of the loop is the first arm of an if. The second one, which
// [encoder.replenish] fills, goes back to the head: no place in the loop has to
// deal with where it came from.
func (e *encoder) beginTurn(x edit, compare byte) {
	e.w.byte(compare, opIf)
	e.copySpan(span{x.pos - int(e.m.code.chunks[x.arg].blockType), x.pos})
}

// replenish makes up what a turn of the loop wants, so that it finds enough when
// it is tried again.
func (e *encoder) replenish(head uint32, f *function) {
	c := &e.m.code.chunks[head]
	if f.counts() {
		e.settle(c, f)
		return
	}
	e.refresh(c)
	e.w.call(e.helper[helperDrain])
	e.pay(func() { e.w.i64(-e.turn(head, f)) })
}

// settle pays for what the counter counted, and in advance for more.
func (e *encoder) settle(c *chunk, f *function) {
	e.refresh(c)
	e.w.localGet(f.counter())
	e.w.i32(int32(f.advance))
	e.w.call(e.helper[helperSettle])
	e.w.localSet(f.counter())
}

// bulk writes a bulk operation on memory, whose operands are on the stack. Short
// ones, which are charged for with the code around them, are done as they were.
func (e *encoder) bulk(x edit, f *function) {
	w := &e.w
	w.localTee(f.length())
	w.localGet(f.length())
	w.i32(maxInline)
	w.byte(opI32LeU, opIf)
	w.s64(int64(e.typeIndex(helperTypes[x.arg][0], "")))
	e.copySpan(span{x.pos, x.pos + int(x.skip)})
	w.byte(opElse)
	w.call(e.helper[x.arg])
	w.byte(opEnd)
}

// refresh computes the values anew that go round a loop, without changing them.
// It makes them other values to a compiler, made where they are made: one that
// keeps a value on the stack because of the call that follows would otherwise
// put it there in every turn of the loop.
func (e *encoder) refresh(c *chunk) {
	w := &e.w
	for _, l := range e.m.code.carried[c.carried : c.carried+uint32(c.carries)] {
		w.localGet(l.index)
		switch l.valType {
		case typeI32:
			w.i32(0)
			w.byte(opI32Add)
		case typeI64:
			w.i64(0)
			w.byte(opI64Add)
		case typeF32:
			w.byte(opI32ReinterpretF32, opF32ReinterpretI32)
		case typeF64:
			w.byte(opI64ReinterpretF64, opF64ReinterpretI64)
		case typeV128:
			w.byte(opVec, opVecNot, opVec, opVecNot)
		}
		w.localSet(l.index)
	}
}

// takeFrame takes a frame out of the stack budget.
func (e *encoder) takeFrame(frame uint32) {
	w := &e.w
	w.globalGet(e.depth)
	w.i32(int32(frame))
	w.byte(opI32Sub)
	w.globalSet(e.depth)
	w.globalGet(e.depth)
	w.i32(0)
	w.byte(opI32LtS, opIf, opCallVoid)
	w.call(e.helper[helperOverflow])
	w.byte(opUnreach, opEnd)
}

// giveBack gives back the frame and what was paid in advance and not used.
func (e *encoder) giveBack(f *function) {
	w := &e.w
	if f.frame > 0 {
		w.globalGet(e.depth)
		w.i32(int32(f.frame))
		w.byte(opI32Add)
		w.globalSet(e.depth)
	}
	if f.counts() {
		w.globalGet(e.fuel)
		w.localGet(f.counter())
		w.byte(opExtendS, opI64Add)
		w.globalSet(e.fuel)
	}
}

// wrap opens the block around a body that gives its frame back at the end.
func (e *encoder) wrap(i int) {
	results := e.m.types[e.m.funcs[e.m.imported+i]].results
	e.w.byte(opBlock)
	switch len(results) {
	case 0:
		e.w.byte(opCallVoid)
	case 1:
		e.w.byte(results[0])
	default:
		e.w.s64(int64(e.wrappers[i]))
	}
}
