package prepass

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
