package prepass

// funcRef is a place in the binary that holds a function's index.
type funcRef struct{ pos int }

// constExpr passes over a constant expression, and notes the functions whose
// references it takes.
func (m *module) constExpr(r *reader) {
	for r.err == nil {
		at := r.pos
		switch op := r.byte(); op {
		case opEnd:
			return
		case 0x41:
			r.skipLEB(5)
		case 0x42:
			r.skipLEB(10)
		case 0x43:
			r.bytes(4)
		case 0x44:
			r.bytes(8)
		case 0x23:
			if i := r.u32(); r.err == nil && uint64(i) >= uint64(len(m.globals)) {
				r.fail(at, "no such global")
			}
		case 0xd0:
			r.nullType()
		case 0xd2:
			m.takeRef(r)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // extended-const
		case 0xfd:
			if r.byte() != 12 {
				r.fail(at, "not allowed in a constant expression")
			}
			r.bytes(16)
		default:
			r.fail(at, "not allowed in a constant expression")
		}
	}
}

// takeRef reads the index of a function that is taken as a reference.
func (m *module) takeRef(r *reader) {
	at := r.pos
	m.refs = append(m.refs, funcRef{at})
	f := m.function(r, at, r.u32())
	if r.err != nil {
		return
	}
	m.refer(f)
}

// refer notes that a reference to a function is taken.
func (m *module) refer(f uint32) {
	if m.reachable == nil {
		m.reachable = make([]bool, len(m.funcs))
	}
	m.reachable[f] = true
}

func (m *module) readElements(r *reader) {
	n := r.count("element segments", m.bounds.ElementSegments)
	total := 0
	for i := 0; i < n && r.err == nil; i++ {
		total += m.readElement(r, total)
	}
}

// readElement reads a segment of any of the eight encodings: bit 0 says that it
// is not active, bit 1 that it names its table, or is declarative, and bit 2
// that its entries are expressions.
func (m *module) readElement(r *reader, total int) int {
	at := r.pos
	flags := r.u32()
	if flags > 7 {
		r.fail(at, "unknown kind of element segment")
		return 0
	}
	if flags&1 == 0 {
		if flags&2 != 0 {
			m.tableIndex(r)
		}
		m.constExpr(r)
	}
	exprs := flags&4 != 0
	if flags&3 != 0 {
		switch {
		case exprs:
			r.refType()
		case r.byte() != 0:
			r.fail(at, "unknown kind of elements")
		}
	}
	n := r.further("elements", total, m.bounds.Elements)
	for i := 0; i < n && r.err == nil; i++ {
		if exprs {
			m.constExpr(r)
		} else {
			m.takeRef(r)
		}
	}
	return n
}

func (m *module) tableIndex(r *reader) {
	at := r.pos
	if i := r.u32(); r.err == nil && uint64(i) >= uint64(len(m.tables)) {
		r.fail(at, "no such table")
	}
}
