package wasmgen

// Instructions on vectors, by their operands: all leave a vector.
var (
	vectorUnary = []Opcode{
		77,         // not
		96, 97, 98, // i8x16.abs, neg, popcnt
		128, 129, 160, 161, 192, 193, // abs, neg of wider lanes
		135, 136, 137, 138, 167, 168, 199, 200, // extend halves
		124, 125, 126, 127, // add pairs
		224, 225, 236, 237, // abs, neg of floats
		248, 249, 250, 251, // truncate, convert
	}
	vectorBinary = []Opcode{
		14,                                     // swizzle
		35, 36, 37, 38, 45, 46, 55, 58, 65, 67, // compare
		78, 79, 80, 81, // and, andnot, or, xor
		101, 102, 133, 134, // narrow
		110, 111, 112, 113, 114, 115, 118, 119, 120, 121, 123,
		142, 143, 144, 145, 146, 147, 149, 150, 151, 152, 153, 155, 156,
		174, 177, 181, 182, 183, 184, 185, 186, 188,
		206, 209, 213, 214, 220,
	}
	vectorFloat = []Opcode{228, 229, 230, 231, 232, 233, 240, 241, 242, 243, 244, 245}
	vectorShift = []Opcode{107, 108, 109, 139, 140, 141, 171, 172, 173, 203, 204, 205}

	// splats are the instructions that fill a vector with a number.
	splats = map[ValType][]Opcode{I32: {15, 16, 17}, I64: {18}, F32: {19}, F64: {20}}
)

// lanes are the instructions on one lane of a number of lanes.
var lanes = []struct {
	extract, replace Opcode
	count            int
	typ              ValType
}{
	{21, 23, 16, I32}, {22, 23, 16, I32}, {24, 26, 8, I32}, {25, 26, 8, I32}, {27, 28, 4, I32},
	{29, 30, 2, I64}, {31, 32, 4, F32}, {33, 34, 2, F64},
}

// vector writes an instruction that leaves a vector, with its operands.
func (b *body) vector() {
	switch b.below(9) {
	case 0:
		if b.hasMemory {
			b.load(V128)
			return
		}
		b.leaf(V128)
	case 1:
		from := pick(b.source, numbers)
		b.expr(from)
		b.Op(prefixVector + pick(b.source, splats[from]))
	case 2:
		l := pick(b.source, lanes)
		b.expr(V128)
		b.expr(l.typ)
		b.Op(prefixVector + l.replace).Raw(byte(b.below(l.count)))
	case 3:
		b.expr(V128)
		b.Op(prefixVector + pick(b.source, vectorUnary))
	case 4:
		b.exprs([]ValType{V128, I32})
		b.Op(prefixVector + pick(b.source, vectorShift))
	case 5:
		b.exprs([]ValType{V128, V128, V128})
		b.Op(prefixVector + 82) // bitselect
	case 6:
		b.shuffle()
	case 7:
		b.vectorFloat()
	default:
		b.exprs([]ValType{V128, V128})
		b.Op(prefixVector + pick(b.source, vectorBinary))
	}
}

func (b *body) shuffle() {
	b.exprs([]ValType{V128, V128})
	b.Op(prefixVector + 13)
	for range 16 {
		b.Raw(byte(b.below(32)))
	}
}

// vectorFloat writes an instruction on floats and clears the lanes that are not
// a number.
func (b *body) vectorFloat() {
	op := pick(b.source, vectorFloat)
	equal := Opcode(65)
	if op >= 240 {
		equal = 71
	}
	b.exprs([]ValType{V128, V128})
	held := b.local(V128)
	b.Op(prefixVector + op).LocalSet(held).LocalGet(held)
	b.LocalGet(held).LocalGet(held).Op(prefixVector+equal, prefixVector+78)
}

// extract writes an instruction that leaves a number taken from a vector.
func (b *body) extract(t ValType) {
	b.expr(V128)
	l := pick(b.source, lanes)
	if l.typ == t {
		b.Op(prefixVector + l.extract).Raw(byte(b.below(l.count)))
		return
	}
	b.Op(prefixVector + pick(b.source, []Opcode{83, 99, 100, 131, 132, 163, 164, 195, 196}))
}
