package prepass

// maxBulk is the number of bulk operations of one function up to which they are
// looked at one by one. Functions of honest modules have some dozens. Beyond, all
// on memory go to a helper: wazero takes time in the square of their number for
// what surrounds each (20,000 memory.fill in one function: 20 s), and none at all
// for calls. Those on tables and segments are refused, as there is no helper for
// each of these.
const maxBulk = 500

// maxInline is the length up to which a bulk operation of constant length stays
// as it is.
const maxInline = 1024

// special handles instructions that do more than compute: at is where the
// instruction lies, next where its immediates start. It returns where the next
// one lies; zero or less says that the immediates are malformed.
func (s *scanner) special(imm, op byte, at, next int) (int, *Error) {
	if n := len(s.c.edits); n > s.most {
		return 0, s.fault(at, over("calls, loops and other places to charge for", uint64(n), uint64(s.most)))
	}
	switch imm {
	case immBlock:
		return s.begin(op, at, next)
	case immElse:
		return next, s.otherwise(at)
	case immEnd:
		s.finish(at)
		return next, nil
	case immBr:
		depth, p := s.u32(next)
		if p < 0 {
			return p, nil
		}
		return p, s.branch(next, p, depth)
	case immBrTable:
		return s.branchTable(at, next)
	case immUnreachable:
		return next, nil
	case immReturn:
		s.edit(edit{pos: at, kind: editReturn, skip: 1, arg: uint32(len(s.labels)-1) + s.crossed(0)})
		return next, nil
	case immCall, immReturnCall, immCallIndirect, immReturnCallIndirect:
		return s.call(imm, at, next)
	case immRefFunc:
		return s.refFunc(at, next)
	case immMemory, immMemoryGrow:
		return s.memory(imm, at, next)
	case immTable, immTableSet:
		if imm == immTableSet {
			s.m.frozen.tables = true
		}
		return s.skip32(next), nil
	case immSelectT:
		return s.typed(at, next)
	case immRefNull:
		if next < len(s.buf) && (s.buf[next] == 0x70 || s.buf[next] == 0x6f) {
			return next + 1, nil
		}
		return 0, s.fault(at, refusal(0xd4))
	case immMisc:
		return s.misc(at, next)
	case immVec:
		return s.vector(at, next)
	}
	return 0, s.fault(at, refusal(op))
}

// helper puts a call to a helper in, in place of skip bytes.
func (s *scanner) helper(at int, h uint32, skip int) {
	s.c.uses[h] = true
	s.edit(edit{pos: at, kind: editHelper, arg: h, skip: uint8(skip)})
}

func (s *scanner) branchTable(at, next int) (int, *Error) {
	n, p := s.u32(next)
	if p < 0 {
		return p, nil
	}
	if uint64(n) > uint64(s.m.bounds.BranchTable) {
		return 0, s.fault(at, over("labels in a br_table", uint64(n), uint64(s.m.bounds.BranchTable)))
	}
	if s.c.branchTables += int(n); s.c.branchTables > s.m.bounds.BranchTables {
		return 0, s.fault(at, over("labels in br_tables", uint64(s.c.branchTables), uint64(s.m.bounds.BranchTables)))
	}
	weight := s.owners[len(s.owners)-1].weight
	for range uint64(n) + 1 {
		pos := p
		var depth uint32
		if depth, p = s.u32(p); p < 0 {
			return p, nil
		}
		if err := s.branch(pos, p, depth); err != nil {
			return 0, err
		}
		// Only one of the branches is taken, and all take as many values.
		arity := uint32(s.labels[len(s.labels)-1-int(depth)].arity)
		s.owners[len(s.owners)-1].weight = weight + s.branchWeight + arity
	}
	return p, nil
}

func (s *scanner) call(imm byte, at, next int) (int, *Error) {
	index, p := s.u32(next)
	if p < 0 {
		return p, nil
	}
	tail := imm == immReturnCall || imm == immReturnCallIndirect
	if tail {
		s.edit(edit{pos: at, kind: editTail})
	}
	if imm == immCallIndirect || imm == immReturnCallIndirect {
		if uint64(index) >= uint64(len(s.m.types)) {
			return 0, s.fault(at, "no such type")
		}
		s.values(&s.m.types[index])
		s.c.indirects = append(s.c.indirects, index)
		return s.skip32(p), nil
	}
	if uint64(index) >= uint64(len(s.m.funcs)) {
		return 0, s.fault(at, "no such function")
	}
	s.values(&s.m.types[s.m.funcs[index]])
	s.edit(edit{pos: next, kind: editCall, arg: index, skip: uint8(p - next)})
	o := &s.owners[len(s.owners)-1]
	if int(index) < s.m.imported {
		o.weight += weightHost
		s.b.host = true
	} else {
		s.c.calls = append(s.c.calls, callSite{callee: index, chunk: o.chunk})
	}
	return p, nil
}

// values counts what a call passes and returns: each takes a move at least.
func (s *scanner) values(t *funcType) {
	n := len(t.params) + len(t.results)
	s.owners[len(s.owners)-1].weight += uint32(n)
	s.b.values += len(t.results)
	s.b.args = max(s.b.args, n)
	s.b.vectors = s.b.vectors || t.hasVectors()
}

func (s *scanner) refFunc(at, next int) (int, *Error) {
	index, p := s.u32(next)
	if p < 0 {
		return p, nil
	}
	if uint64(index) >= uint64(len(s.m.funcs)) {
		return 0, s.fault(at, "no such function")
	}
	s.m.refer(index)
	s.edit(edit{pos: next, kind: editCall, arg: index, skip: uint8(p - next)})
	return p, nil
}

// memory handles memory.size and memory.grow.
func (s *scanner) memory(imm byte, at, next int) (int, *Error) {
	if err := s.oneMemory(at, next); err != nil {
		return 0, err
	}
	if imm == immMemoryGrow {
		s.helper(at, helperGrow, 0)
	}
	return next + 1, nil
}

// oneMemory checks the byte that names a memory.
func (s *scanner) oneMemory(at, p int) *Error {
	switch {
	case p >= len(s.buf):
		return s.fault(at, "cut off instruction")
	case len(s.m.memories) == 0:
		return s.fault(at, "there is no memory")
	case s.buf[p] != 0:
		return s.fault(at, unsupported("more than one memory (multi-memory)"))
	}
	return nil
}

func (s *scanner) typed(at, next int) (int, *Error) {
	if next+1 >= len(s.buf) || s.buf[next] != 1 {
		return 0, s.fault(at, "select takes one type")
	}
	r := reader{buf: s.buf, pos: next + 1, end: len(s.buf), section: sectionNames[secCode]}
	r.valType()
	return r.pos, r.err
}

// misc handles instructions under the prefix 0xfc.
func (s *scanner) misc(at, next int) (int, *Error) {
	n, p := s.u32(next)
	if p < 0 {
		return p, nil
	}
	switch {
	case n <= 7: // saturating conversions
		s.weigh(at, weightVector)
		return p, nil
	case n == 10 || n == 11:
		return s.bulkMemory(n, at, p)
	case n == 8:
		if err := s.bulkSegment(at); err != nil {
			return 0, err
		}
		if p = s.skip32(p); p < 0 {
			return p, nil
		}
		return p + 1, s.oneMemory(at, p)
	case n == 9 || n == 13:
		s.weigh(at, weightBulk)
		s.m.frozen.drops = true
		return s.skip32(p), nil
	case n == 12 || n == 14:
		if err := s.bulkTable(at); err != nil {
			return 0, err
		}
		if p = s.skip32(p); p < 0 {
			return p, nil
		}
		return s.skip32(p), nil
	case n == 15 || n == 17:
		if err := s.bulkTable(at); err != nil {
			return 0, err
		}
		return s.skip32(p), nil
	case n == 16:
		s.weigh(at, weightMemory)
		return s.skip32(p), nil
	}
	return 0, s.fault(at, "unknown instruction")
}

func (s *scanner) bulkTable(at int) *Error {
	s.m.frozen.tables = true
	return s.bulkSegment(at)
}

// bulkSegment handles bulk operations that stay where they are.
func (s *scanner) bulkSegment(at int) *Error {
	if s.b.bulks++; s.b.bulks > maxBulk {
		return s.fault(at, over("bulk operations in a function that has some on tables or segments", uint64(s.b.bulks), maxBulk))
	}
	s.weigh(at, weightBulk)
	s.helper(at, helperLength, 0)
	return nil
}

// bulkMemory handles memory.copy (10) and memory.fill (11), which go through
// helpers unless they are known to be short.
func (s *scanner) bulkMemory(n uint32, at, p int) (int, *Error) {
	h, indices := uint32(helperFill), 1
	if n == 10 {
		h, indices = helperCopy, 2
	}
	for i := range indices {
		if err := s.oneMemory(at, p+i); err != nil {
			return 0, err
		}
	}
	p += indices
	if s.b.bulks++; s.b.bulks > maxBulk {
		s.weigh(at, weightBulk)
		s.helper(at, h, p-at)
		return p, nil
	}
	if s.constEnd == at && s.constValue >= 0 && s.constValue <= maxInline {
		s.weigh(at, weightBulk+uint32(s.constValue)/8)
		return p, nil
	}
	s.weigh(at, weightBulk+maxInline/8)
	s.c.uses[h], s.b.bulk = true, true
	s.edit(edit{pos: at, kind: editBulk, arg: h, skip: uint8(p - at)})
	return p, nil
}

// vector handles instructions under the prefix 0xfd. Their number has one byte,
// or two where the highest bit of the first is set; other encodings of the same
// number are read differently by different engines, and refused.
func (s *scanner) vector(at, next int) (int, *Error) {
	s.b.vectors = true
	if next+1 >= len(s.buf) {
		return 0, nil
	}
	n, p := uint32(s.buf[next]), next+1
	if n >= 0x80 {
		if s.buf[p] != 1 {
			return 0, s.fault(at, unsupported("an instruction of the relaxed SIMD proposal, or one encoded in too many bytes,"))
		}
		p++
	}
	switch vecImmediate(n) {
	case vecMemarg:
		return s.memarg(p), nil
	case vecMemargLane:
		if p = s.memarg(p); p > 0 {
			p++
		}
	case vecLane:
		p++
	case vecBytes:
		p += 16
	}
	return p, nil
}
