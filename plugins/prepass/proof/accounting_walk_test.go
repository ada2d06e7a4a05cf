package proof

import (
	"encoding/binary"
	"slices"
)

// walker reads a valid module's bytes, one number or instruction after another.
// It shares nothing with the pre-pass's own reading, and looks for no faults.
type walker struct{ b []byte }

// take returns the next n bytes.
func (w *walker) take(n int) []byte {
	taken := w.b[:n]
	w.b = w.b[n:]
	return taken
}

// number reads an unsigned number.
func (w *walker) number() int {
	n, size := binary.Uvarint(w.b)
	w.take(size)
	return int(n)
}

// skip passes over numbers, signed or not.
func (w *walker) skip(numbers int) {
	for range numbers {
		for w.take(1)[0] >= 0x80 {
		}
	}
}

// vector reads a count and calls each as often.
func (w *walker) vector(each func()) {
	for range w.number() {
		each()
	}
}

// section is a section of a module as it stands there.
type section struct {
	id      byte
	payload []byte
}

func split(wasm []byte) []section {
	w := walker{wasm[8:]}
	var all []section
	for len(w.b) > 0 {
		id := w.take(1)[0]
		all = append(all, section{id, w.take(w.number())})
	}
	return all
}

func join(all []section) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range all {
		out = binary.AppendUvarint(append(out, s.id), uint64(len(s.payload)))
		out = append(out, s.payload...)
	}
	return out
}

// sectionOrder is how the sections that are added to come in a module.
var sectionOrder = []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11}

// grow appends entries to a section, which is put in where there is none.
func grow(all []section, id byte, count int, entries []byte) []section {
	rank := slices.Index(sectionOrder, id)
	at := slices.IndexFunc(all, func(s section) bool {
		return s.id != 0 && slices.Index(sectionOrder, s.id) >= rank
	})
	if at < 0 {
		at = len(all)
	}
	if at == len(all) || all[at].id != id {
		all = slices.Insert(all, at, section{id, []byte{0}})
	}
	w := walker{all[at].payload}
	payload := binary.AppendUvarint(nil, uint64(w.number()+count))
	payload = append(payload, w.b...)
	payload = append(payload, entries...)
	all[at].payload = payload
	return all
}

func find(all []section, id byte) []byte {
	for _, s := range all {
		if s.id == id {
			return s.payload
		}
	}
	return []byte{0}
}

// arity is how many values a function or a block takes and leaves.
type arity struct{ params, results int }

// shape is what of a module has to be known to change it.
type shape struct {
	types         []arity
	funcs         []int // types of all functions, imported ones first
	importedFuncs int
	globals       int // imported ones among them
}

func shapeOf(all []section) shape {
	var s shape
	w := walker{find(all, 1)}
	w.vector(func() {
		w.take(1)
		params := w.number()
		w.take(params)
		results := w.number()
		w.take(results)
		s.types = append(s.types, arity{params, results})
	})
	w = walker{find(all, 2)}
	w.vector(func() { s.readImport(&w) })
	w = walker{find(all, 3)}
	w.vector(func() { s.funcs = append(s.funcs, w.number()) })
	w = walker{find(all, 6)}
	s.globals += w.number()
	return s
}

func (s *shape) readImport(w *walker) {
	w.take(w.number())
	w.take(w.number())
	limits := func() { w.skip(1 + int(w.take(1)[0]&1)) }
	switch w.take(1)[0] {
	case 0:
		s.funcs = append(s.funcs, w.number())
		s.importedFuncs++
	case 1:
		w.take(1)
		limits()
	case 2:
		limits()
	default:
		w.take(2)
		s.globals++
	}
}

// Opcodes that the walk or the metering tells apart. Those with a prefix are the
// prefix times 65536 and their number.
const (
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opCall         = 0x10
	opCallIndirect = 0x11
	opTailCall     = 0x12
	opTailIndirect = 0x13
	opMemoryGrow   = 0x40
	prefixMisc     = 0xfc << 16
	prefixVector   = 0xfd << 16
)

// step is one instruction.
type step struct {
	op    int
	bytes []byte
	// index is the first immediate: a label, a function, a type.
	index int
	// block is what a block, loop or if takes and leaves.
	block arity
}

func (w *walker) instruction(types []arity) step {
	start := w.b
	s := step{op: int(w.take(1)[0])}
	if s.op >= 0xfc {
		s.op = s.op<<16 + w.number()
	}
	switch {
	case s.op >= opBlock && s.op <= opIf:
		s.block = w.blockType(types)
	case s.op == opBrTable:
		w.vector(func() { w.skip(1) })
		s.index = w.number()
	case slices.Contains([]int{opBr, opBrIf, opCall, opTailCall}, s.op):
		s.index = w.number()
	case s.op == opCallIndirect || s.op == opTailIndirect:
		s.index = w.number()
		w.skip(1)
	case s.op == 0x1c:
		w.take(w.number())
	case s.op>>16 == 0xfd:
		w.vectorImmediate(s.op & 0xffff)
	default:
		w.immediates(s.op)
	}
	s.bytes = start[:len(start)-len(w.b)]
	return s
}

func (w *walker) blockType(types []arity) arity {
	if b := w.b[0]; b >= 0x40 && b < 0x80 {
		w.take(1)
		return arity{0, min(1, int(b)-0x40)}
	}
	return types[w.number()]
}

// immediates passes over those of an instruction that is not a vector's.
func (w *walker) immediates(op int) {
	switch {
	case op >= 0x28 && op <= 0x3e:
		w.skip(2)
	case op >= 0x20 && op <= 0x26, op >= 0x3f && op <= 0x42, op == 0xd0, op == 0xd2:
		w.skip(1)
	case op == 0x43:
		w.take(4)
	case op == 0x44:
		w.take(8)
	case op > prefixMisc+7:
		w.skip([]int{2, 1, 2, 1, 2, 1, 2, 1, 1, 1}[op-prefixMisc-8])
	}
}

func (w *walker) vectorImmediate(n int) {
	switch {
	case n <= 11, n == 92, n == 93:
		w.skip(2)
	case n == 12, n == 13:
		w.take(16)
	case n >= 21 && n <= 34:
		w.take(1)
	case n >= 84 && n <= 91:
		w.skip(2)
		w.take(1)
	}
}
