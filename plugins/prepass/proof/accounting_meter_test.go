package proof

import (
	"encoding/binary"

	"github.com/toolquay/toolquay/plugins/prepass"
)

// Names of the globals, all of type i64, that are exported for these tests.
const (
	// metered modules: instructions run, and the work they make; see [work].
	instructionsGlobal = "accounting.instructions"
	operationsGlobal   = "accounting.operations"
	// rewritten modules: the fuel that is left.
	fuelGlobal = "accounting.fuel"
)

// work is what a run of a module took.
type work struct {
	// instructions counts each instruction as 1.
	instructions int64
	// operations leaves those out that only say where a value or a label is,
	// and counts the values that others move: arguments and results of calls,
	// what a branch takes along, what the arms of an if leave.
	operations int64
}

func (w work) plus(o work) work {
	return work{w.instructions + o.instructions, w.operations + o.operations}
}

// meter changes a module so that it counts, exactly, what it executes. It is as
// simple as can be, on purpose, and plans nothing: counts of instructions that
// can neither trap nor branch are put off to the next one that can.
type meter struct {
	shape
	global  int // of instructions; that of operations follows
	lengths int // function that counts a length in bytes; others follow
}

// Functions, of type [i32] -> [i32], that count the length of an operation and
// return it.
const (
	countBytes = iota
	countElements
	countPages
	counters
)

// metered returns the module with the exports instructionsGlobal and
// operationsGlobal. It must be valid.
func metered(wasm []byte) ([]byte, error) {
	all := split(wasm)
	m := meter{shape: shapeOf(all)}
	m.global, m.lengths = m.globals, len(m.funcs)
	code := m.code(find(all, 10))
	if len(m.funcs) > m.importedFuncs {
		all = grow(all, 1, 1, []byte{0x60, 1, 0x7f, 1, 0x7f})
		counter := binary.AppendUvarint(nil, uint64(len(m.types)))
		all = grow(all, 3, counters, append(append(counter, counter...), counter...))
		for i := range all {
			if all[i].id == 10 {
				all[i].payload = code
			}
		}
	}
	zero := []byte{0x7e, 1, 0x42, 0, opEnd}
	all = grow(all, 6, 2, append(zero, zero...))
	all = exportGlobal(all, instructionsGlobal, m.global)
	return join(exportGlobal(all, operationsGlobal, m.global+1)), nil
}

// payable rewrites a module and exports the fuel, which the pre-pass keeps in a
// global behind the module's own.
func payable(wasm []byte) ([]byte, error) {
	m, err := prepass.Rewrite(wasm, generous)
	if err != nil {
		return nil, refusedError{err}
	}
	original := split(wasm)
	if s := shapeOf(original); len(s.funcs) > s.importedFuncs {
		return join(exportGlobal(split(m.Wasm), fuelGlobal, s.globals)), nil
	}
	return m.Wasm, nil
}

func exportGlobal(all []section, name string, index int) []section {
	entry := binary.AppendUvarint(nil, uint64(len(name)))
	entry = append(append(entry, name...), globalExport)
	return grow(all, exportSection, 1, binary.AppendUvarint(entry, uint64(index)))
}

// code is the code section with all bodies metered and the counters behind them.
func (m *meter) code(payload []byte) []byte {
	w := walker{payload}
	n := w.number()
	out := binary.AppendUvarint(nil, uint64(n+counters))
	for i := range n {
		function := walker{w.take(w.number())}
		start := function.b
		function.vector(func() { function.skip(1); function.take(1) })
		locals := start[:len(start)-len(function.b)]
		body := m.body(function.b, m.types[m.funcs[m.importedFuncs+i]].results)
		out = binary.AppendUvarint(out, uint64(len(locals)+len(body)))
		out = append(append(out, locals...), body...)
	}
	for kind := range counters {
		body := m.counter(kind)
		out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
	}
	return out
}

// scope is a block, loop, if or function around an instruction.
type scope struct {
	op int
	arity
}

func (m *meter) body(instructions []byte, results int) []byte {
	var out []byte
	var due work
	scopes := []scope{{opBlock, arity{0, results}}}
	for w := (walker{instructions}); len(w.b) > 0; {
		s := w.instruction(m.types)
		due = due.plus(m.price(s, scopes))
		if !s.harmless() {
			out, due = m.count(out, due), work{}
		}
		if kind := s.length(); kind >= 0 {
			out = binary.AppendUvarint(append(out, opCall), uint64(m.lengths+kind))
		}
		out = append(out, s.bytes...)
		switch s.op {
		case opBlock, opLoop, opIf:
			scopes = append(scopes, scope{s.op, s.block})
		case opElse:
			scopes[len(scopes)-1].op = opElse
		case opEnd:
			scopes = scopes[:len(scopes)-1]
		}
	}
	return out
}

// price is what an instruction takes, but for lengths.
func (m *meter) price(s step, scopes []scope) work {
	moves := 0
	label := func(depth int) int {
		to := scopes[len(scopes)-1-depth]
		if to.op == opLoop {
			return to.params
		}
		return to.results
	}
	switch s.op {
	case 0x01, 0x1a, 0x20, opBlock, opLoop: // nop, drop, local.get
		return work{1, 0}
	case opBr, opBrIf, opBrTable:
		moves = label(s.index)
	case opCall, opTailCall:
		t := m.types[m.funcs[s.index]]
		moves = t.params + t.results
	case opCallIndirect, opTailIndirect:
		t := m.types[s.index]
		moves = t.params + t.results
	case opElse:
		moves = label(0)
	case opEnd:
		switch inner := scopes[len(scopes)-1]; {
		case len(scopes) == 1, inner.op == opLoop:
			return work{1, 0}
		case inner.op == opIf, inner.op == opElse:
			moves = inner.results
		}
	}
	return work{1, 1 + int64(moves)}
}

// harmless reports whether the next instruction is the one that runs next, come
// what may.
func (s step) harmless() bool {
	in := func(from, to int) bool { return from <= s.op && s.op <= to }
	switch {
	case s.op == 0x01 || s.op == opBlock || in(0x1a, 0x24) || in(0x41, 0xd2):
		division := in(0x6d, 0x70) || in(0x7f, 0x82)
		conversion := in(0xa8, 0xab) || in(0xae, 0xb1)
		return !division && !conversion
	case s.op>>16 == 0xfd:
		n := s.op & 0xffff
		return n > 11 && (n < 84 || n > 93)
	}
	return false
}

// length is the counter for the length that an instruction finds on top of the
// stack, or -1.
func (s step) length() int {
	switch s.op {
	case opMemoryGrow:
		return countPages
	case prefixMisc + 8, prefixMisc + 10, prefixMisc + 11:
		return countBytes
	case prefixMisc + 12, prefixMisc + 14, prefixMisc + 15, prefixMisc + 17:
		return countElements
	}
	return -1
}

// count writes instructions that count, and leave the stack as it is.
func (m *meter) count(out []byte, w work) []byte {
	for i, n := range []int64{w.instructions, w.operations} {
		if n > 0 {
			out = m.add(out, i, signed([]byte{opI64Const}, n))
		}
	}
	return out
}

// add writes what adds an amount, which instructions leave on the stack.
func (m *meter) add(out []byte, i int, amount []byte) []byte {
	g := uint64(m.global + i)
	out = binary.AppendUvarint(append(out, opGlobalGet), g)
	out = append(append(out, amount...), opI64Add, opGlobalSet)
	return binary.AppendUvarint(out, g)
}

// counter is the body of the function of a kind of length, which counts it as
// the pre-pass says it weighs: eight bytes as one, an element as one, a page as
// 4096.
func (m *meter) counter(kind int) []byte {
	amount := []byte{opLocalGet, 0, opExtend}
	switch kind {
	case countBytes:
		amount = append(amount, opI64Const, 3, opI64ShrU)
	case countPages: // no memory has more than 65536
		most := signed([]byte{opI32Const}, 65536)
		amount = append(append([]byte{opLocalGet, 0}, most...), opLocalGet, 0)
		amount = append(append(amount, most...), opI32LtU, opSelect, opExtend)
		amount = append(signed(append(amount, opI64Const), 4096), opI64Mul)
	}
	out := []byte{0}
	for i := range 2 {
		out = m.add(out, i, amount)
	}
	return append(out, opLocalGet, 0, opEnd)
}

// Opcodes that counting is written with.
const (
	opSelect    = 0x1b
	opLocalGet  = 0x20
	opGlobalGet = 0x23
	opGlobalSet = 0x24
	opI32Const  = 0x41
	opI64Const  = 0x42
	opI32LtU    = 0x49
	opI64Add    = 0x7c
	opI64Mul    = 0x7e
	opI64ShrU   = 0x88
	opExtend    = 0xad // i64.extend_i32_u
)

// signed appends a signed number of LEB128.
func signed(out []byte, v int64) []byte {
	for v < -64 || v > 63 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v)&0x7f)
}
