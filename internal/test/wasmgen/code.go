package wasmgen

import "encoding/binary"

// Code is a sequence of instructions: a function's body, or a constant
// expression. Its methods append one each and return the code, to be chained.
// The zero value is empty; the last end, that of the body, is not written.
type Code struct{ b []byte }

// Len is the number of bytes written.
func (c *Code) Len() int { return len(c.b) }

// Raw appends bytes as they are.
func (c *Code) Raw(b ...byte) *Code { c.b = append(c.b, b...); return c }

// Append appends other code.
func (c *Code) Append(other *Code) *Code { return c.Raw(other.b...) }

// U32 appends an immediate: an index, or a count.
func (c *Code) U32(v uint32) *Code {
	c.b = binary.AppendUvarint(c.b, uint64(v))
	return c
}

// Op appends opcodes, without immediates.
func (c *Code) Op(ops ...Opcode) *Code {
	for _, op := range ops {
		if prefix := byte(op >> 16); prefix != 0 {
			c.Raw(prefix).U32(uint32(op & 0xffff))
		} else {
			c.Raw(byte(op))
		}
	}
	return c
}

// I32 appends i32.const.
func (c *Code) I32(v int32) *Code { return c.signed(0x41, int64(v)) }

// I64 appends i64.const.
func (c *Code) I64(v int64) *Code { return c.signed(0x42, v) }

func (c *Code) signed(op byte, v int64) *Code {
	c.b = appendSigned(append(c.b, op), v)
	return c
}

// F32 appends f32.const of a bit pattern.
func (c *Code) F32(bits uint32) *Code {
	c.b = binary.LittleEndian.AppendUint32(append(c.b, 0x43), bits)
	return c
}

// F64 appends f64.const of a bit pattern.
func (c *Code) F64(bits uint64) *Code {
	c.b = binary.LittleEndian.AppendUint64(append(c.b, 0x44), bits)
	return c
}

// V128 appends v128.const.
func (c *Code) V128(low, high uint64) *Code {
	c.Op(v128Const)
	c.b = binary.LittleEndian.AppendUint64(c.b, low)
	c.b = binary.LittleEndian.AppendUint64(c.b, high)
	return c
}

// RefNull appends ref.null.
func (c *Code) RefNull(t ValType) *Code { return c.Raw(0xd0, byte(t)) }

// RefFunc appends ref.func. The function must be exported or in a segment.
func (c *Code) RefFunc(index uint32) *Code { return c.Raw(0xd2).U32(index) }

// Block begins a block, which ends with [Code.End].
func (c *Code) Block(t BlockType) *Code { return c.signed(0x02, int64(t)) }

// Loop begins a loop, which ends with [Code.End].
func (c *Code) Loop(t BlockType) *Code { return c.signed(0x03, int64(t)) }

// If begins an if, which ends with [Code.End].
func (c *Code) If(t BlockType) *Code { return c.signed(0x04, int64(t)) }

// Else begins the other arm of an if.
func (c *Code) Else() *Code { return c.Raw(0x05) }

// End ends a block, loop or if.
func (c *Code) End() *Code { return c.Op(end) }

// Br appends a branch to the label that lies depth labels out.
func (c *Code) Br(depth uint32) *Code { return c.Raw(0x0c).U32(depth) }

// BrIf appends a conditional branch.
func (c *Code) BrIf(depth uint32) *Code { return c.Raw(0x0d).U32(depth) }

// BrTable appends a branch by an index to one of the depths, or to other.
func (c *Code) BrTable(other uint32, depths ...uint32) *Code {
	c.b = appendIndexes(append(c.b, 0x0e), depths)
	return c.U32(other)
}

// Call appends a call.
func (c *Code) Call(index uint32) *Code { return c.Raw(0x10).U32(index) }

// CallIndirect appends a call through a table.
func (c *Code) CallIndirect(typ, table uint32) *Code { return c.Raw(0x11).U32(typ).U32(table) }

// Select appends a select of a stated type.
func (c *Code) Select(t ValType) *Code { return c.Raw(0x1c, 1, byte(t)) }

// LocalGet appends local.get.
func (c *Code) LocalGet(index uint32) *Code { return c.Raw(0x20).U32(index) }

// LocalSet appends local.set.
func (c *Code) LocalSet(index uint32) *Code { return c.Raw(0x21).U32(index) }

// LocalTee appends local.tee.
func (c *Code) LocalTee(index uint32) *Code { return c.Raw(0x22).U32(index) }

// GlobalGet appends global.get.
func (c *Code) GlobalGet(index uint32) *Code { return c.Raw(0x23).U32(index) }

// GlobalSet appends global.set.
func (c *Code) GlobalSet(index uint32) *Code { return c.Raw(0x24).U32(index) }

// TableGet appends table.get.
func (c *Code) TableGet(table uint32) *Code { return c.Raw(0x25).U32(table) }

// TableSet appends table.set.
func (c *Code) TableSet(table uint32) *Code { return c.Raw(0x26).U32(table) }

// Access appends a load or store of memory 0. Alignment is the power of two of
// the bytes.
func (c *Code) Access(op Opcode, align, offset uint32) *Code { return c.Op(op).U32(align).U32(offset) }

// MemorySize appends memory.size.
func (c *Code) MemorySize() *Code { return c.Raw(0x3f, 0) }

// MemoryGrow appends memory.grow.
func (c *Code) MemoryGrow() *Code { return c.Raw(0x40, 0) }

// MemoryInit appends memory.init of a data segment.
func (c *Code) MemoryInit(segment uint32) *Code { return c.Op(memoryInit).U32(segment).Raw(0) }

// DataDrop appends data.drop.
func (c *Code) DataDrop(segment uint32) *Code { return c.Op(dataDrop).U32(segment) }

// MemoryCopy appends memory.copy.
func (c *Code) MemoryCopy() *Code { return c.Op(memoryCopy).Raw(0, 0) }

// MemoryFill appends memory.fill.
func (c *Code) MemoryFill() *Code { return c.Op(memoryFill).Raw(0) }

// TableInit appends table.init of an element segment.
func (c *Code) TableInit(table, segment uint32) *Code {
	return c.Op(tableInit).U32(segment).U32(table)
}

// ElemDrop appends elem.drop.
func (c *Code) ElemDrop(segment uint32) *Code { return c.Op(elemDrop).U32(segment) }

// TableCopy appends table.copy.
func (c *Code) TableCopy(to, from uint32) *Code { return c.Op(tableCopy).U32(to).U32(from) }

// TableGrow appends table.grow.
func (c *Code) TableGrow(table uint32) *Code { return c.Op(tableGrow).U32(table) }

// TableSize appends table.size.
func (c *Code) TableSize(table uint32) *Code { return c.Op(tableSize).U32(table) }

// TableFill appends table.fill.
func (c *Code) TableFill(table uint32) *Code { return c.Op(tableFill).U32(table) }
