package wasmgen

import "encoding/binary"

// ValType is a type of values, as encoded.
type ValType byte

// The types of values of WebAssembly 2.0.
const (
	I32       ValType = 0x7f
	I64       ValType = 0x7e
	F32       ValType = 0x7d
	F64       ValType = 0x7c
	V128      ValType = 0x7b
	FuncRef   ValType = 0x70
	ExternRef ValType = 0x6f
)

// FuncType is the type of a function or a block.
type FuncType struct{ Params, Results []ValType }

// Sig is short for a [FuncType].
func Sig(params, results []ValType) FuncType { return FuncType{params, results} }

func (t FuncType) encode() string {
	out := []byte{0x60}
	for _, list := range [][]ValType{t.Params, t.Results} {
		out = binary.AppendUvarint(out, uint64(len(list)))
		for _, v := range list {
			out = append(out, byte(v))
		}
	}
	return string(out)
}

// BlockType is the type of a block, loop or if: [NoResult], the [Result] of one
// value, or a [TypeIndex].
type BlockType int64

// NoResult is the type of a block without parameters and results.
const NoResult BlockType = -0x40

// Result is the type of a block without parameters that leaves one value.
func Result(t ValType) BlockType { return BlockType(t) - 0x80 }

// TypeIndex is the type of a block by its index among the module's types.
func TypeIndex(index uint32) BlockType { return BlockType(index) }

// Kind is what an import or export is.
type Kind byte

// The kinds of imports and exports.
const (
	Function Kind = iota
	Table
	Memory
	Global
)

// Limits are those of a memory, in pages of 64 KiB, or of a table, in elements.
type Limits struct {
	Min uint32
	// Max is the stated maximum, if there is one.
	Max uint32
	// Bounded says that Max is stated.
	Bounded bool
}

// AtLeast are limits without a maximum.
func AtLeast(n uint32) Limits { return Limits{Min: n} }

// Between are limits with a maximum.
func Between(n, most uint32) Limits { return Limits{n, most, true} }

func (l Limits) append(out []byte) []byte {
	if !l.Bounded {
		return binary.AppendUvarint(append(out, 0), uint64(l.Min))
	}
	out = binary.AppendUvarint(append(out, 1), uint64(l.Min))
	return binary.AppendUvarint(out, uint64(l.Max))
}

// Locals are a run of a function's locals of one type.
type Locals struct {
	Count uint32
	Type  ValType
}
