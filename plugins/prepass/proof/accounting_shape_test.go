package proof

import (
	"math/rand/v2"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
)

// shaper makes modules of nothing but control flow: branches of all kinds over
// straight lines whose lengths are around those at which the pre-pass divides
// code, and calls between functions around the size up to which they pay
// nothing.
type shaper struct {
	*rand.Rand
	m      wasmgen.Module
	budget uint32 // global that bounds turns of loops and calls
	funcs  []uint32
	table  uint32
	unary  uint32 // type [i32] -> []

	*wasmgen.Code
	size   int
	self   int    // the function, as an index of funcs
	leaf   uint32 // a function that is all line
	labels []int  // values that a branch to each takes along
}

// shapeBudget bounds the turns and calls of one run.
const shapeBudget = 300

var oneI32 = wasmgen.Sig([]wasmgen.ValType{wasmgen.I32}, nil)

func values(n int) []wasmgen.ValType {
	out := make([]wasmgen.ValType, n)
	for i := range out {
		out[i] = wasmgen.I32
	}
	return out
}

// shapeModule exports run, of type [i32] -> [].
func shapeModule(seed uint64) []byte {
	s := &shaper{Rand: rand.New(rand.NewPCG(seed, 7))}
	s.budget = s.m.Global(wasmgen.I32, true, new(wasmgen.Code).I32(0))
	s.unary = s.m.Type(oneI32)
	s.table = s.m.Table(wasmgen.FuncRef, wasmgen.AtLeast(16))
	s.leaf = s.m.Func(oneI32, line(130), wasmgen.Locals{Count: 1, Type: wasmgen.I32})
	for range 1 + s.IntN(6) {
		s.funcs = append(s.funcs, s.m.Declare(oneI32))
	}
	s.m.Elem(s.table, new(wasmgen.Code).I32(0), s.funcs[s.IntN(len(s.funcs)):]...)
	for i, f := range s.funcs {
		s.self, s.size, s.Code, s.labels = i, []int{1, 5, 30, 120}[s.IntN(4)], new(wasmgen.Code), []int{0}
		s.sequence(0)
		s.m.Define(f, s.Code, wasmgen.Locals{Count: 1, Type: wasmgen.I32})
	}
	start := new(wasmgen.Code).I32(shapeBudget).GlobalSet(s.budget).LocalGet(0).Call(s.funcs[0])
	s.m.Export("run", wasmgen.Function, s.m.Func(oneI32, start))
	return s.m.Bytes()
}

// line writes a straight line of about so many instructions, one of them, now
// and then, that may trap; or one of calls that do not pay for themselves.
func (s *shaper) line(n int) {
	if s.IntN(6) == 0 {
		for range n / 20 {
			s.LocalGet(0).Call(s.leaf)
		}
		return
	}
	for range n / 4 {
		s.LocalGet(1).I32(3).Op(wasmgen.I32Add).LocalSet(1)
	}
	if s.IntN(100) == 0 {
		s.I32(1).LocalGet(1).I32(31).Op(wasmgen.I32And, wasmgen.I32DivS, wasmgen.Drop)
	}
}

var lineLengths = []int{0, 4, 4, 8, 40, 100, 150, 160, 200, 220, 240, 300, 600}

// chance leaves an i32 that is true once in a while.
func (s *shaper) chance() {
	s.LocalGet(0).I32(1664525).Op(wasmgen.I32Mul).I32(1013904223).Op(wasmgen.I32Add).LocalTee(0)
	s.I32(int32(16 + s.IntN(14))).Op(wasmgen.Opcode(0x76)).I32(1 + int32(s.IntN(4))).Op(wasmgen.I32And) // shr_u
}

// limit counts down the budget, and returns where it is used up.
func (s *shaper) limit() {
	s.GlobalGet(s.budget).Op(wasmgen.I32Eqz).If(wasmgen.NoResult).Op(wasmgen.Return).End()
	s.GlobalGet(s.budget).I32(1).Op(wasmgen.I32Sub).GlobalSet(s.budget)
}

func (s *shaper) push(n int) {
	for range n {
		s.LocalGet(1)
	}
}

func (s *shaper) pop(n int) {
	for range n {
		s.Op(wasmgen.Drop)
	}
}

// leaving is that of a block that leaves so many values.
func (s *shaper) leaving(n int) wasmgen.BlockType {
	if n == 0 {
		return wasmgen.NoResult
	}
	return wasmgen.TypeIndex(s.m.Type(wasmgen.Sig(nil, values(n))))
}

func (s *shaper) sequence(depth int) {
	for range 1 + s.IntN(6) {
		s.line(lineLengths[s.IntN(len(lineLengths))])
		if s.size--; s.size > 0 && depth < 12 {
			s.part(depth + 1)
		}
	}
}

func (s *shaper) part(depth int) {
	switch s.IntN(12) {
	case 0, 1, 2:
		n := s.IntN(3)
		s.Block(s.leaving(n))
		s.within(depth, n, n)
		s.End()
		s.pop(n)
	case 3, 4:
		s.choice(depth)
	case 5:
		s.loop(depth)
	case 6, 7:
		to := s.IntN(len(s.labels))
		n := s.labels[len(s.labels)-1-to]
		s.push(n)
		s.chance()
		s.BrIf(uint32(to))
		s.pop(n)
	case 8:
		s.call()
	default:
		s.chance()
		s.If(wasmgen.NoResult)
		s.labels = append(s.labels, 0)
		s.leap()
		s.labels = s.labels[:len(s.labels)-1]
		s.End()
	}
}

// within writes what stands within a block, and leaves n values.
func (s *shaper) within(depth, n, label int) {
	s.labels = append(s.labels, label)
	s.sequence(depth)
	s.push(n)
	s.labels = s.labels[:len(s.labels)-1]
}

func (s *shaper) choice(depth int) {
	n := s.IntN(3)
	s.chance()
	s.If(s.leaving(n))
	s.within(depth, n, n)
	if n > 0 || s.IntN(2) == 0 {
		s.Else()
		s.within(depth, n, n)
	}
	s.End()
	s.pop(n)
}

// loop writes a loop, some with parameters, some of which go round at the end.
func (s *shaper) loop(depth int) {
	n := s.IntN(3)
	s.push(n)
	if n == 0 {
		s.Loop(wasmgen.NoResult)
	} else {
		s.Loop(wasmgen.TypeIndex(s.m.Type(wasmgen.Sig(values(n), nil))))
	}
	s.pop(n)
	s.limit()
	s.within(depth, 0, n)
	if s.IntN(3) > 0 {
		s.push(n)
		s.chance()
		s.BrIf(0)
		s.pop(n)
	}
	s.End()
}

// leap writes something that does not go on with the next instruction, some of
// it followed by what is never run.
func (s *shaper) leap() {
	to := s.IntN(len(s.labels))
	n := s.labels[len(s.labels)-1-to]
	s.push(n)
	switch s.IntN(4) {
	case 0:
		s.Br(uint32(to))
	case 1:
		s.Op(wasmgen.Return)
	case 2:
		s.branchTable(n, uint32(to))
	default:
		s.LocalGet(0)
		s.limit()
		if s.IntN(2) == 0 {
			s.Raw(opTailCall).U32(s.callee())
		} else {
			s.I32(int32(s.IntN(6))).Raw(opTailIndirect).U32(s.unary).U32(s.table)
		}
	}
	if s.IntN(2) == 0 {
		s.line(lineLengths[s.IntN(len(lineLengths))])
	}
}

// branchTable writes a branch by one of several labels that take as many values.
func (s *shaper) branchTable(n int, other uint32) {
	var depths []uint32
	for i, l := range s.labels {
		if l == n {
			depths = append(depths, uint32(len(s.labels)-1-i))
		}
	}
	targets := make([]uint32, s.IntN(5))
	for i := range targets {
		targets[i] = depths[s.IntN(len(depths))]
	}
	s.chance()
	s.BrTable(other, targets...)
}

// callee is mostly one that comes later.
func (s *shaper) callee() uint32 {
	if later := s.funcs[s.self+1:]; len(later) > 0 && s.IntN(8) > 0 {
		return later[s.IntN(len(later))]
	}
	return s.funcs[s.IntN(len(s.funcs))]
}

// call writes calls; direct ones to later functions are not counted down.
func (s *shaper) call() {
	if later := s.funcs[s.self+1:]; len(later) > 0 && s.IntN(3) > 0 {
		for range 1 + s.IntN(3) {
			s.LocalGet(0).Call(later[s.IntN(len(later))])
		}
		return
	}
	s.limit()
	s.LocalGet(0)
	if s.IntN(2) == 0 {
		s.Call(s.callee())
		return
	}
	s.I32(int32(s.IntN(6))).CallIndirect(s.unary, s.table)
}
