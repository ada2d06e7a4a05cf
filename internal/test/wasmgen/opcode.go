package wasmgen

// Opcode is an instruction: one byte, or a prefix byte and a number in the upper
// and lower half.
type Opcode uint32

const (
	prefixMisc   Opcode = 0xfc << 16
	prefixVector Opcode = 0xfd << 16
)

// Instructions that tests write by hand. All others are written by their number,
// as Opcode(0x45) for i32.eqz, which stands in the specification's index of
// instructions.
const (
	Unreachable Opcode = 0x00
	Nop         Opcode = 0x01
	end         Opcode = 0x0b
	Return      Opcode = 0x0f
	Drop        Opcode = 0x1a
	SelectAny   Opcode = 0x1b

	I32Load   Opcode = 0x28
	I64Load   Opcode = 0x29
	I32Load8U Opcode = 0x2d
	I32Store  Opcode = 0x36
	I64Store  Opcode = 0x37
	I32Store8 Opcode = 0x3a

	I32Eqz  Opcode = 0x45
	I32Eq   Opcode = 0x46
	I32Ne   Opcode = 0x47
	I32LtS  Opcode = 0x48
	I32LtU  Opcode = 0x49
	I32GtS  Opcode = 0x4a
	I32GeS  Opcode = 0x4e
	I64Eqz  Opcode = 0x50
	I64LtS  Opcode = 0x53
	I32Add  Opcode = 0x6a
	I32Sub  Opcode = 0x6b
	I32Mul  Opcode = 0x6c
	I32DivS Opcode = 0x6d
	I32RemU Opcode = 0x70
	I32And  Opcode = 0x71
	I64Add  Opcode = 0x7c
	I64Sub  Opcode = 0x7d

	I32WrapI64 Opcode = 0xa7
	RefIsNull  Opcode = 0xd1
)

const (
	memoryInit = prefixMisc + 8 + iota
	dataDrop
	memoryCopy
	memoryFill
	tableInit
	elemDrop
	tableCopy
	tableGrow
	tableSize
	tableFill
)

const v128Const = prefixVector + 12
