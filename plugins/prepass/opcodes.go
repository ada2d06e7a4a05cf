package prepass

// Kinds of immediates, by which [scanner] moves from one instruction to the
// next.
const (
	immNone = iota
	immLocal
	immLocalSet
	immMemarg
	immI32
	immI64
	immF32
	immF64
	immGlobal
	immGlobalSet
	// Everything from here on is handled on its own.
	immBlock
	immElse
	immEnd
	immBr
	immBrTable
	immReturn
	immCall
	immCallIndirect
	immReturnCall
	immReturnCallIndirect
	immSelectT
	immTable
	immTableSet
	immMemory
	immMemoryGrow
	immRefNull
	immRefFunc
	immMisc
	immVec
	immUnreachable
	immInvalid
)

const (
	opBlock = 0x02
	opLoop  = 0x03
	opIf    = 0x04
	opElse  = 0x05
	opEnd   = 0x0b
	opBr    = 0x0c
	opBrIf  = 0x0d
)

// Fuel weights, in units of about one simple machine instruction. They need not
// be exact: what is too high polls more often than needed, and what is too low
// less often, by that factor.
const (
	weightDivide = 12
	weightMemory = 2
	// weightLoad is more than a load that is in the cache takes, as one that is
	// not takes a hundred times that.
	weightLoad   = 4
	weightVector = 4
	// weightCall is what a direct call itself takes.
	weightCall = 6
	// weightIndirect is what a call to somewhere unknown takes, and what it may
	// reach that does not pay for itself.
	weightIndirect = 12 + freeCall
	// weightHost is that of a call to an import, which may be a host function.
	weightHost = 60 + freeCall
	// weightBulk is the fixed part of a bulk operation.
	weightBulk = 16
)

// instr is what the scanner knows of an opcode.
type instr struct {
	imm    uint8
	weight uint8
	// values is 1 where a new value comes into being.
	values uint8
}

// instrs describes the one-byte opcodes.
var instrs = func() (t [256]instr) {
	for i := range t {
		t[i] = instr{imm: immInvalid}
	}
	set := func(from, to int, in instr) {
		for i := from; i <= to; i++ {
			t[i] = in
		}
	}
	t[0x00] = instr{immUnreachable, 1, 0}
	t[0x01] = instr{immNone, 0, 0}
	set(0x02, 0x03, instr{immBlock, 0, 0})
	t[0x04] = instr{immBlock, 1, 0}
	t[0x05] = instr{immElse, 0, 0}
	t[0x0b] = instr{immEnd, 0, 0}
	set(0x0c, 0x0d, instr{immBr, 1, 0})
	t[0x0e] = instr{immBrTable, 4, 0}
	t[0x0f] = instr{immReturn, 1, 0}
	t[0x10] = instr{immCall, weightCall, 1}
	t[0x11] = instr{immCallIndirect, weightIndirect, 1}
	t[0x12] = instr{immReturnCall, weightCall, 0}
	t[0x13] = instr{immReturnCallIndirect, weightIndirect, 0}
	t[0x1a] = instr{immNone, 0, 0}
	t[0x1b] = instr{immNone, 1, 1}
	t[0x1c] = instr{immSelectT, 1, 1}
	t[0x20] = instr{immLocal, 0, 0}
	set(0x21, 0x22, instr{immLocalSet, 1, 0})
	t[0x23] = instr{immGlobal, 1, 1}
	t[0x24] = instr{immGlobalSet, 1, 0}
	t[0x25] = instr{immTable, weightMemory, 1}
	t[0x26] = instr{immTableSet, weightMemory, 0}
	set(0x28, 0x35, instr{immMemarg, weightLoad, 2})
	set(0x36, 0x3e, instr{immMemarg, weightMemory, 1})
	t[0x3f] = instr{immMemory, weightMemory, 1}
	t[0x40] = instr{immMemoryGrow, weightBulk, 1}
	t[0x41] = instr{immI32, 1, 1}
	t[0x42] = instr{immI64, 1, 1}
	t[0x43] = instr{immF32, 1, 1}
	t[0x44] = instr{immF64, 1, 1}
	set(0x45, 0xc4, instr{immNone, 1, 1})
	set(0x6d, 0x70, instr{immNone, weightDivide, 1})
	set(0x7f, 0x82, instr{immNone, weightDivide, 1})
	set(0x91, 0x91, instr{immNone, weightDivide, 1})
	set(0x95, 0x95, instr{immNone, weightDivide, 1})
	set(0x9f, 0x9f, instr{immNone, weightDivide, 1})
	set(0xa3, 0xa3, instr{immNone, weightDivide, 1})
	set(0xa8, 0xbf, instr{immNone, weightVector, 1})
	t[0xd0] = instr{immRefNull, 1, 1}
	t[0xd1] = instr{immNone, 1, 1}
	// A function reference is made by the runtime, not by the code.
	t[0xd2] = instr{immRefFunc, 100, 1}
	t[0xfc] = instr{immMisc, 0, 1}
	t[0xfd] = instr{immVec, weightVector, 2}
	return t
}()

// refusal names the proposal that an opcode or a type byte belongs to.
func refusal(op byte) string {
	switch op {
	case 0x06, 0x07, 0x08, 0x09, 0x0a, 0x18, 0x19, 0x1f:
		return unsupported("exception handling")
	case 0x14, 0x15, 0xd3, 0xd4, 0xd5, 0xd6:
		return unsupported("the typed function references or garbage collection proposal")
	case 0xfb:
		return unsupported("the garbage collection proposal")
	case 0xfe:
		return unsupported("threads: a wait could not be interrupted, so atomic access")
	}
	return "unknown instruction"
}

// Immediates of vector instructions, by their number.
const (
	vecNone = iota
	vecMemarg
	vecLane
	vecMemargLane
	vecBytes
)

// vecImmediate is that of the vector instruction n, which is below 256.
func vecImmediate(n uint32) int {
	switch {
	case n <= 11, n == 92, n == 93:
		return vecMemarg
	case n == 12, n == 13:
		return vecBytes
	case n >= 21 && n <= 34:
		return vecLane
	case n >= 84 && n <= 91:
		return vecMemargLane
	}
	return vecNone
}
