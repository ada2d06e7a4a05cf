package prepass

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
