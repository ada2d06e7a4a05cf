package prepass

import "math"

// StackExhausted is what a rewritten module passes to [ImportRefill] when its
// stack budget is used up, right before it traps. A host that does not return
// from it can say so in a clearer way than the trap does.
const StackExhausted = math.MinInt64

// Helper functions that the rewriting appends where they are needed.
const (
	// helperDrain asks the host for more: [] -> [].
	helperDrain = iota
	// helperSettle pays what a function's loops used, and in advance what they
	// will use next: [local counter, advance] -> [local counter].
	helperSettle
	// helperLength charges for the length of an operation: [length] -> [length].
	helperLength
	// helperGrow charges for pages: [pages] -> [pages].
	helperGrow
	// helperFill and helperCopy do memory.fill and memory.copy in pieces.
	helperFill
	helperCopy
	// helperOverflow ends the module for want of stack: [] -> [].
	helperOverflow
	helpers
)

var helperNames = [helpers]string{
	"toolquay:drain", "toolquay:settle", "toolquay:length", "toolquay:grow",
	"toolquay:fill", "toolquay:copy", "toolquay:overflow",
}

// helperTypes are the helpers' parameters and results.
var helperTypes = [helpers][2]string{
	helperSettle: {"\x7f\x7f", "\x7f"},
	helperLength: {"\x7f", "\x7f"},
	helperGrow:   {"\x7f", "\x7f"},
	helperFill:   {"\x7f\x7f\x7f", ""},
	helperCopy:   {"\x7f\x7f\x7f", ""},
}

const (
	// loopAdvance is the most that a call pays in advance for its loops, and that
	// these pay at a time once they have used that up. What is left at the end is
	// given back.
	//
	// What is paid in advance can be hoarded, call by call, and be spent without the
	// host being asked. So the n-th function from below, of those that pay in advance
	// and may be under way at the same time, pays no more than an n-th of hoard. Were
	// 160,000 of them on the stack, which is the most that [DefaultMaxStack] has room
	// for, they would have 2.7 Mi units in hand together.
	loopAdvance = 32 << 10
	hoard       = 256 << 10
	// piece is the most that a bulk operation does between two charges, in
	// bytes: some 50 us where memory is touched for the first time.
	piece = 256 << 10
	// pageWeight is what one more page of memory weighs. Most of it is for the
	// system clearing it when it is first used.
	pageWeight = 4096
)

// writeHelper writes the body of a helper.
func (e *encoder) writeHelper(h int) {
	w := &e.w
	w.byte(0) // no locals
	switch h {
	case helperDrain:
		w.globalGet(e.fuel)
		w.call(e.refill)
		w.globalSet(e.fuel)
	case helperSettle:
		e.take(func() {
			w.localGet(1)
			w.byte(opExtendU)
			w.localGet(0)
			w.byte(opExtendS, opI64Sub)
		})
		w.localGet(1)
	case helperLength:
		e.take(func() {
			w.localGet(0)
			w.byte(opExtendU)
		})
		w.localGet(0)
	case helperGrow:
		e.writeGrow()
	case helperFill:
		e.writeFill()
	case helperCopy:
		e.writeCopy()
	case helperOverflow:
		w.i64(StackExhausted)
		w.call(e.refill)
		w.byte(opDrop, opUnreach)
	}
	w.byte(opEnd)
}

// pay takes what amount leaves on the stack out of the fuel.
func (e *encoder) pay(amount func()) {
	e.w.globalGet(e.fuel)
	amount()
	e.w.byte(opI64Sub)
	e.w.globalSet(e.fuel)
}

// left puts the fuel on the stack, and what it is compared to.
func (e *encoder) left() {
	e.w.globalGet(e.fuel)
	e.w.i64(0)
}

// take pays, and asks for more where the fuel is used up.
func (e *encoder) take(amount func()) {
	e.pay(amount)
	e.left()
	e.unless(opI64GeS, func() { e.w.call(e.helper[helperDrain]) })
}

func (e *encoder) writeGrow() {
	w := &e.w
	e.take(func() {
		// More pages than there can be are refused at once.
		w.localGet(0)
		w.i32(maxPages)
		w.localGet(0)
		w.i32(maxPages)
		w.byte(opI32LtU, opSelect, opExtendU)
		w.i64(pageWeight)
		w.byte(opI64Mul)
	})
	w.localGet(0)
}

// takeBytes charges for the bytes that parameter 2 counts.
func (e *encoder) takeBytes() {
	e.take(func() {
		e.w.localGet(2)
		e.w.i32(3)
		e.w.byte(opI32ShrU, opExtendU)
	})
}

// within leaves on the stack whether the range at the given parameter, as long
// as parameter 2 says, lies in memory.
func (e *encoder) within(param uint32) {
	w := &e.w
	w.localGet(param)
	w.byte(opExtendU)
	w.localGet(2)
	w.byte(opExtendU, opI64Add, opMemSize, 0, opExtendU)
	w.i64(16)
	w.byte(opI64Shl, opI64LeU)
}

// long begins what is only done for more than one piece; it needs two ends.
func (e *encoder) long(inMemory func()) {
	w := &e.w
	w.localGet(2)
	w.i32(piece)
	w.byte(opI32GtU, opIf, opCallVoid)
	// Where the whole operation would trap, nothing must have been written:
	// it is left to the operation at the end.
	inMemory()
	w.byte(opIf, opCallVoid)
}

// pieces repeats do until no more than one piece is left.
func (e *encoder) pieces(do func()) {
	w := &e.w
	w.byte(opLoop, opCallVoid)
	e.take(func() { w.i64(piece / 8) })
	do()
	w.localGet(2)
	w.i32(piece)
	w.byte(opI32GtU, opBrIf, 0, opEnd)
}

// step adds to a parameter.
func (e *encoder) step(param uint32, op byte) {
	e.w.localGet(param)
	e.w.i32(piece)
	e.w.byte(op)
	e.w.localSet(param)
}

// writeFill writes memory.fill of [destination, value, length].
func (e *encoder) writeFill() {
	w := &e.w
	e.long(func() { e.within(0) })
	e.pieces(func() {
		w.localGet(0)
		w.localGet(1)
		w.i32(piece)
		w.byte(opMiscCode, memFillCode, 0)
		e.step(0, opI32Add)
		e.step(2, opI32Sub)
	})
	w.byte(opEnd, opEnd)
	e.takeBytes()
	w.localGet(0)
	w.localGet(1)
	w.localGet(2)
	w.byte(opMiscCode, memFillCode, 0)
}

// writeCopy writes memory.copy of [destination, source, length]. Ranges may
// overlap: pieces are taken from the front where the destination lies before the
// source, and from the back where it lies behind.
func (e *encoder) writeCopy() {
	w := &e.w
	e.long(func() {
		e.within(0)
		e.within(1)
		w.byte(0x71) // and
	})
	w.localGet(0)
	w.localGet(1)
	w.byte(opI32LeU, opIf, opCallVoid)
	e.pieces(func() {
		w.localGet(0)
		w.localGet(1)
		w.i32(piece)
		w.byte(opMiscCode, memCopyCode, 0, 0)
		e.step(0, opI32Add)
		e.step(1, opI32Add)
		e.step(2, opI32Sub)
	})
	w.byte(opElse)
	e.pieces(func() {
		e.step(2, opI32Sub)
		w.localGet(0)
		w.localGet(2)
		w.byte(opI32Add)
		w.localGet(1)
		w.localGet(2)
		w.byte(opI32Add)
		w.i32(piece)
		w.byte(opMiscCode, memCopyCode, 0, 0)
	})
	w.byte(opEnd, opEnd, opEnd)
	e.takeBytes()
	w.localGet(0)
	w.localGet(1)
	w.localGet(2)
	w.byte(opMiscCode, memCopyCode, 0, 0)
}
