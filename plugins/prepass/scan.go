package prepass

// scan goes through one body.
func (s *scanner) scan(b *body, index int) *Error {
	s.b, s.buf = b, s.m.wasm[:b.instrs.end]
	s.labels, s.owners, s.loops, s.constEnd = s.labels[:0], s.owners[:0], s.loops[:0], -1
	s.edits = len(s.c.edits)
	s.branchWeight = 1 + uint32(b.locals)/16
	s.open(b.instrs.start, s.branchWeight)
	results := len(s.m.types[s.m.funcs[index]].results)
	s.labels = append(s.labels, label{op: opBlock, arity: uint16(results), from: noChunk})
	p := b.instrs.start
	for len(s.labels) > 0 {
		if p >= len(s.buf) {
			return s.fault(p, "function without an end")
		}
		op := s.buf[p]
		in := &instrs[op]
		if in.weight != 0 {
			s.weigh(p, uint32(in.weight))
		}
		b.values += int(in.values)
		next := p + 1
		switch in.imm {
		case immNone:
		case immLocal, immLocalSet, immGlobal, immGlobalSet:
			next = s.variable(in.imm, next)
		case immMemarg:
			next = s.memarg(next)
		case immI32:
			next = s.constant(next)
		case immI64:
			next = s.skip(next, 10)
		case immF32:
			next += 4
		case immF64:
			next += 8
		default:
			var err *Error
			if next, err = s.special(in.imm, op, p, next); err != nil {
				return err
			}
		}
		if next <= 0 || next > len(s.buf) {
			return s.fault(p, s.why(op))
		}
		p = next
	}
	if p != len(s.buf) {
		return s.fault(p, "bytes left over after the end of the function")
	}
	if b.merges*b.locals > s.m.bounds.Merges {
		return s.fault(b.instrs.start, over("merged locals (labels times locals)", uint64(b.merges)*uint64(b.locals), uint64(s.m.bounds.Merges)))
	}
	s.close()
	return nil
}

// why words the fault of an immediate that could not be read.
func (s *scanner) why(op byte) string {
	switch instrs[op].imm {
	case immLocal, immLocalSet:
		return "no such local"
	case immGlobal, immGlobalSet:
		return "no such global"
	}
	return "malformed or cut off instruction"
}
