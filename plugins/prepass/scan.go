package prepass

// scanner goes through function bodies, one at a time, instruction by
// instruction. It checks whatever could reach into what the rewriting adds, and
// notes what is to be done where.
type scanner struct {
	m *module
	c *code

	buf    []byte // the module up to the end of the body
	b      *body
	labels []label
	owners []owner
	loops  []loop
	params []byte
	groups []group
	seen   []access // of each local
	// most bounds the edits of the module, and edits counts those ahead of the
	// body.
	most, edits int
	// branchWeight is added to every branch: values that differ between paths
	// are moved about where paths meet.
	branchWeight uint32
	// The last i32.const, if it is the instruction before the one at constEnd.
	constEnd, constValue int
}

// label is what a branch can name: a block, a loop, an if or the function.
type label struct {
	op byte
	// arity is the number of values that a branch to it takes along.
	arity uint16
	// owner is the one whose code follows on the label.
	owner uint32
	// wraps counts the loops up to this label that the rewriting puts a block of
	// its own into.
	wraps uint32
	// from is the number of the earliest chunk, but the first, that branches to
	// the label, or noChunk; since is that of the chunk an if lies in.
	from, since uint32
	// sets is the body's count where the label opens, and joined says that there
	// is more than one way to where it leads.
	sets   int
	joined bool
}

// owner is a function's or a loop's own code, while it is being scanned.
type owner struct {
	head   uint32 // its first chunk
	chunk  uint32 // the current one
	number uint32 // counted from 0 within the owner
	weight uint32 // of the current chunk, so far
	// due says that a new chunk starts at the next instruction of any weight.
	due bool
}

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

func (s *scanner) fault(at int, message string) *Error {
	return &Error{Section: sectionNames[secCode], Offset: at, Message: message}
}

// close ends the body's runs in the lists.
func (s *scanner) close() {
	s.settle()
	c, b := s.c, s.b
	b.edits, b.chunks, b.calls, b.indirects = len(c.edits), len(c.chunks), len(c.calls), len(c.indirects)
}

// open starts a function's or loop's own code with its first chunk.
func (s *scanner) open(at int, weight uint32) {
	head := s.newChunk(at, noChunk)
	s.owners = append(s.owners, owner{head: head, chunk: head, weight: weight})
}

func (s *scanner) newChunk(at int, head uint32) uint32 {
	n := uint32(len(s.c.chunks))
	if head == noChunk {
		head = n
	}
	s.c.chunks = append(s.c.chunks, chunk{head: head})
	s.c.edits = append(s.c.edits, edit{pos: at, kind: editCharge, arg: n})
	return n
}

// settle writes the weight of the current chunk down.
func (s *scanner) settle() {
	o := &s.owners[len(s.owners)-1]
	s.c.chunks[o.chunk].weight = o.weight
}

// weigh adds to the current chunk, or starts a new one with the instruction at
// at.
func (s *scanner) weigh(at int, weight uint32) {
	o := &s.owners[len(s.owners)-1]
	if o.weight >= chunkSize || o.due {
		s.settle()
		o.chunk, o.weight, o.due = s.newChunk(at, o.head), 0, false
		o.number++
	}
	o.weight += weight
}

// branch notes a branch to the label that lies depth up, as the bytes from pos to
// end say.
func (s *scanner) branch(pos, end int, depth uint32) *Error {
	if uint64(depth) >= uint64(len(s.labels)) {
		return s.fault(pos, "branch to a label that is not there")
	}
	target := len(s.labels) - 1 - int(depth)
	l := &s.labels[target]
	if crossed := s.crossed(target); crossed > 0 {
		s.edit(edit{pos: pos, kind: editBranch, arg: depth + crossed, skip: uint8(end - pos)})
	}
	s.owners[len(s.owners)-1].weight += s.branchWeight + uint32(l.arity)
	s.b.merges++
	l.joined = true
	if l.op != opLoop {
		s.forward(l, s.owners[l.owner].number)
	}
	return nil
}

// crossed is the number of added blocks that a branch to a label crosses.
func (s *scanner) crossed(target int) uint32 {
	wraps := s.labels[len(s.labels)-1].wraps
	if target == 0 {
		return wraps
	}
	return wraps - s.labels[target-1].wraps
}

// forward notes that control flow goes from a chunk of the label's owner to the
// label.
func (s *scanner) forward(l *label, number uint32) {
	if number > 0 {
		l.from = min(l.from, number)
	}
}

// begin opens a block, a loop or an if.
func (s *scanner) begin(op byte, at, next int) (int, *Error) {
	params, results, next, err := s.blockType(at, next)
	if err != nil {
		return 0, err
	}
	if len(s.labels) > s.m.bounds.Nesting {
		return 0, s.fault(at, over("nested blocks", uint64(len(s.labels)), uint64(s.m.bounds.Nesting)))
	}
	l := label{op: op, arity: uint16(results), owner: uint32(len(s.owners) - 1), from: noChunk, sets: s.b.sets}
	l.joined = op == opIf
	l.since = s.owners[l.owner].number
	l.wraps = s.labels[len(s.labels)-1].wraps
	if op == opLoop {
		l.arity = uint16(params)
		s.b.prompt = s.b.prompt || s.prompt()
		s.settle()
		s.open(next, s.branchWeight)
		if params == 0 {
			l.wraps++
			s.c.chunks[len(s.c.chunks)-1].blockType = uint8(next - at - 1)
		}
		s.enterLoop(at)
		s.b.loops = true
		s.b.merges++
		if len(s.loops) > s.m.bounds.LoopNesting {
			return 0, s.fault(at, over("nested loops", uint64(len(s.loops)), uint64(s.m.bounds.LoopNesting)))
		}
	}
	s.labels = append(s.labels, l)
	return next, nil
}

// prompt says that nothing the function does can keep it from the loop that
// begins, nor call another before it.
func (s *scanner) prompt() bool {
	for _, l := range s.labels {
		if l.op != opBlock {
			return false
		}
	}
	const entry = 1 // the edit that charges for it
	return s.b.merges == 0 && len(s.c.edits) == s.edits+entry && s.owners[0].weight <= freeCall
}

// otherwise turns from the one arm of an if to the other.
func (s *scanner) otherwise(at int) *Error {
	l := &s.labels[len(s.labels)-1]
	if l.op != opIf {
		return s.fault(at, "else without an if")
	}
	s.meet(at, l)
	o := &s.owners[l.owner]
	s.forward(l, o.number)
	l.op = opElse
	s.b.merges++
	if l.since > 0 && l.since < o.number {
		o.due = true
	}
	return nil
}

// finish closes the innermost block, which ends with the instruction at at.
func (s *scanner) finish(at int) {
	l := s.labels[len(s.labels)-1]
	s.labels = s.labels[:len(s.labels)-1]
	if len(s.labels) == 0 {
		return
	}
	s.b.merges++
	s.join(l)
	if l.op == opLoop {
		s.settle()
		if head := s.owners[len(s.owners)-1].head; s.c.chunks[head].blockType > 0 {
			s.edit(edit{pos: at, kind: editLoopEnd, arg: head})
		}
		s.leaveLoop()
		s.owners = s.owners[:len(s.owners)-1]
		return
	}
	s.meet(at, &l)
	o := &s.owners[l.owner]
	if l.op == opIf {
		s.forward(&l, l.since)
	}
	if l.from < o.number {
		o.due = true
	}
}

// meet weighs what is moved about where the arm of an if or a block ends with the
// instruction at at. Behind the label of a branch that is the first thing to pay
// for; elsewhere it is no reason to begin a new chunk.
func (s *scanner) meet(at int, l *label) {
	weight := s.branchWeight
	if l.op == opIf || l.op == opElse {
		weight += uint32(l.arity)
	}
	if o := &s.owners[l.owner]; !o.due {
		o.weight += weight
		return
	}
	s.weigh(at, weight)
}

// join counts the values that are made of several where control flow comes
// together: those that a branch takes along, and the locals that were set since
// the label was opened. Compilers hold each of them in a place of its own.
func (s *scanner) join(l label) {
	if l.joined {
		s.b.joins += int(l.arity) + min(s.b.locals, s.b.sets-l.sets)
	}
}
