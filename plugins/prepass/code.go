package prepass

import "math"

const (
	// chunkSize is the fuel weight from which on a stretch of code is charged
	// in several steps.
	chunkSize = 500
	// noChunk is the number of no chunk.
	noChunk = math.MaxUint32
)

// code is what the scan of all function bodies leaves behind. Each body owns a
// run of each of the lists, from where the one before it ends.
type code struct {
	bodies []body
	edits  []edit
	chunks []chunk
	calls  []callSite
	// indirects are the types that call_indirect asks for, with repetitions.
	indirects []uint32

	// carried are the locals that go round loops.
	carried []local

	branchTables int
	// uses says which helper functions are needed.
	uses [helpers]bool
}

// body is the code of one function.
type body struct {
	// groups is the number of local declarations, which lie in decls.
	groups uint32
	decls  span
	// instrs are the instructions, the last end among them.
	instrs span
	// The ends of this body's runs in the lists of [code].
	edits, chunks, calls, indirects int

	locals int
	// loops says whether there is a loop.
	loops bool
	// prompt says that whoever enters the function gets to its first loop.
	prompt bool
	// bulk says that there are bulk operations of unknown length on memory.
	bulk bool
	// values and sets count the instructions that make a value and those that
	// set a local, merges the places where control flow comes together, and joins
	// the values that are made there of several. args is the most that one call
	// passes and returns, bulks the number of bulk operations.
	values, sets, merges, joins, args, bulks int
	// vectors says that some of all these may be vectors.
	vectors bool
	// host says that imports are called.
	host bool
}

// chunk is a stretch of code that is charged for at its start.
//
// A function's own code and each loop's own code (what lies in inner loops is
// theirs) is divided into chunks. The first starts at the head, where nothing
// can get past it. Further ones start wherever the weight so far has reached
// [chunkSize]. A branch out of the first chunk may land in the middle of a later
// one: the head pays for the largest of them in addition, once, as there is no
// way back into the first chunk but over the head. The label of a branch out of
// a later chunk starts a new chunk wherever it lies beyond the chunk's end. So
// nothing runs that was not paid for before.
type chunk struct {
	weight uint32
	// head is the first chunk of the same code.
	head uint32
	// extra is, in a first chunk, the largest weight of the others.
	extra uint32
	// carried are, in a loop's first chunk, the locals that go round the loop.
	carried uint32
	carries uint8
	// blockType is, in the first chunk of a loop that is given a block of its
	// own, the length of the loop's block type, which lies right before it.
	blockType uint8
}

// local is a local that goes round a loop: read, and set for the next turn.
type local struct {
	index   uint32
	valType byte
}

// callSite is a direct call.
type callSite struct {
	callee, chunk uint32
}

// edit is a place in the code where something is put in or exchanged.
type edit struct {
	pos int
	// arg is what the kind asks for: a chunk, a helper, a block depth.
	arg uint32
	// skip is the number of bytes that are left out.
	skip uint8
	kind uint8
}

// Kinds of edits.
const (
	// editCharge charges for a chunk.
	editCharge = iota
	// editCall exchanges the function index that follows.
	editCall
	// editHelper puts a call to a helper function here.
	editHelper
	// editBulk puts a helper beside a bulk operation on memory.
	editBulk
	// editReturn exchanges a return where the frame has to be given back.
	editReturn
	// editTail gives the frame back ahead of a tail call.
	editTail
	// editBranch exchanges the depth of a branch.
	editBranch
	// editLoopEnd closes the block that a loop is given, ahead of its end.
	editLoopEnd
)

func (m *module) readCode(r *reader) {
	at := r.pos
	n := r.count("function bodies", m.bounds.Functions)
	if r.err == nil && n != len(m.funcs)-m.imported {
		r.fail(at, "function and code section do not have the same number of entries")
		return
	}
	m.code.bodies = make([]body, 0, n)
	s := scanner{m: m, c: &m.code, most: max(m.bounds.Density, len(m.wasm)/8)}
	for i := 0; i < n && r.err == nil; i++ {
		m.readBody(r, &s, m.imported+i)
	}
}

func (m *module) readBody(r *reader, s *scanner, index int) {
	at := r.pos
	size := r.u32()
	switch {
	case r.err != nil:
		return
	case uint64(size) > uint64(m.bounds.BodyBytes):
		r.fail(at, over("bytes in one function", uint64(size), uint64(m.bounds.BodyBytes)))
		return
	case uint64(size) > uint64(r.end-r.pos):
		r.fail(at, "function reaches past the end of the section")
		return
	}
	l := reader{buf: r.buf, pos: r.pos, end: r.pos + int(size), section: r.section}
	r.pos = l.end
	params := m.types[m.funcs[index]].params
	b := body{locals: len(params)}
	s.params, s.groups = params, s.groups[:0]
	m.readLocals(&l, &b, s)
	if l.err != nil {
		r.err = l.err
		return
	}
	b.instrs = span{l.pos, l.end}
	if err := s.scan(&b, index); err != nil {
		r.err = err
		return
	}
	m.code.bodies = append(m.code.bodies, b)
}

func (m *module) readLocals(r *reader, b *body, s *scanner) {
	at := r.pos
	b.groups = r.u32()
	b.decls.start = r.pos
	for i := uint32(0); i < b.groups && r.err == nil; i++ {
		n := r.u32()
		valType := r.valType()
		if uint64(n) > uint64(max(0, m.bounds.Locals-b.locals)) {
			r.fail(at, over("locals", uint64(b.locals)+uint64(n), uint64(m.bounds.Locals)))
			return
		}
		b.locals += int(n)
		s.groups = append(s.groups, group{b.locals, valType})
	}
	b.decls.end = r.pos
}
