package wasmgen

// operation is an instruction on values.
type operation struct {
	code     Opcode
	operands []ValType
	// float is set where the result may be any of the values that are not a
	// number.
	float bool
}

// traps reports whether the instruction may trap: divisions and conversions to
// integers that do not saturate.
func (o operation) traps() bool {
	in := func(first, last Opcode) bool { return first <= o.code && o.code <= last }
	return in(0x6d, 0x70) || in(0x7f, 0x82) || in(0xa8, 0xab) || in(0xae, 0xb1)
}

// operations are the numeric instructions by the type of their result.
var operations = numericOperations()

// numericOperations writes down the specification's index of instructions in
// runs of opcodes that have the same type.
func numericOperations() map[ValType][]operation {
	unary := func(t ValType) []ValType { return []ValType{t} }
	binary := func(t ValType) []ValType { return []ValType{t, t} }
	runs := []struct {
		first, last Opcode
		operands    []ValType
		result      ValType
		float       bool
	}{
		{0x45, 0x45, unary(I32), I32, false}, // eqz
		{0x46, 0x4f, binary(I32), I32, false},
		{0x50, 0x50, unary(I64), I32, false},
		{0x51, 0x5a, binary(I64), I32, false},
		{0x5b, 0x60, binary(F32), I32, false},
		{0x61, 0x66, binary(F64), I32, false},
		{0x67, 0x69, unary(I32), I32, false}, // clz, ctz, popcnt
		{0x6a, 0x78, binary(I32), I32, false},
		{0x79, 0x7b, unary(I64), I64, false},
		{0x7c, 0x8a, binary(I64), I64, false},
		{0x8b, 0x8c, unary(F32), F32, false}, // abs, neg
		{0x8d, 0x91, unary(F32), F32, true},
		{0x92, 0x97, binary(F32), F32, true},
		{0x98, 0x98, binary(F32), F32, false}, // copysign
		{0x99, 0x9a, unary(F64), F64, false},
		{0x9b, 0x9f, unary(F64), F64, true},
		{0xa0, 0xa5, binary(F64), F64, true},
		{0xa6, 0xa6, binary(F64), F64, false},
		{0xa7, 0xa7, unary(I64), I32, false}, // wrap
		{0xa8, 0xa9, unary(F32), I32, false}, // trunc
		{0xaa, 0xab, unary(F64), I32, false},
		{0xac, 0xad, unary(I32), I64, false}, // extend
		{0xae, 0xaf, unary(F32), I64, false},
		{0xb0, 0xb1, unary(F64), I64, false},
		{0xb2, 0xb3, unary(I32), F32, false}, // convert
		{0xb4, 0xb5, unary(I64), F32, false},
		{0xb6, 0xb6, unary(F64), F32, true}, // demote
		{0xb7, 0xb8, unary(I32), F64, false},
		{0xb9, 0xba, unary(I64), F64, false},
		{0xbb, 0xbb, unary(F32), F64, true},  // promote
		{0xbc, 0xbc, unary(F32), I32, false}, // reinterpret
		{0xbd, 0xbd, unary(F64), I64, false},
		{0xbe, 0xbe, unary(I32), F32, false},
		{0xbf, 0xbf, unary(I64), F64, false},
		{0xc0, 0xc1, unary(I32), I32, false}, // sign extension
		{0xc2, 0xc4, unary(I64), I64, false},
		{prefixMisc + 0, prefixMisc + 1, unary(F32), I32, false}, // saturating
		{prefixMisc + 2, prefixMisc + 3, unary(F64), I32, false},
		{prefixMisc + 4, prefixMisc + 5, unary(F32), I64, false},
		{prefixMisc + 6, prefixMisc + 7, unary(F64), I64, false},
	}
	table := map[ValType][]operation{}
	for _, r := range runs {
		for code := r.first; code <= r.last; code++ {
			table[r.result] = append(table[r.result], operation{code, r.operands, r.float})
		}
	}
	return table
}

// access is a load or store and its natural alignment, a power of two.
type access struct {
	code  Opcode
	align int
}

var loads = map[ValType][]access{
	I32: {{0x28, 2}, {0x2c, 0}, {0x2d, 0}, {0x2e, 1}, {0x2f, 1}},
	I64: {{0x29, 3}, {0x30, 0}, {0x31, 0}, {0x32, 1}, {0x33, 1}, {0x34, 2}, {0x35, 2}},
	F32: {{0x2a, 2}},
	F64: {{0x2b, 3}},
	V128: {
		{prefixVector + 0, 4},
		{prefixVector + 1, 3}, {prefixVector + 2, 3}, {prefixVector + 3, 3}, // load and extend
		{prefixVector + 7, 0}, {prefixVector + 8, 1}, {prefixVector + 9, 2}, {prefixVector + 10, 3}, // splat
		{prefixVector + 92, 2}, {prefixVector + 93, 3}, // the rest zero
	},
}

var stores = map[ValType][]access{
	I32:  {{0x36, 2}, {0x3a, 0}, {0x3b, 1}},
	I64:  {{0x37, 3}, {0x3c, 0}, {0x3d, 1}, {0x3e, 2}},
	F32:  {{0x38, 2}},
	F64:  {{0x39, 3}},
	V128: {{prefixVector + 11, 4}},
}
