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

// function checks a function index.
func (m *module) function(r *reader, at int, index uint32) uint32 {
	if uint64(index) >= uint64(len(m.funcs)) {
		r.fail(at, "no such function")
		return 0
	}
	return index
}
