package prepass

func (m *module) readTypes(r *reader) {
	n := r.count("types", m.bounds.Types)
	m.types = make([]funcType, 0, n)
	for range n {
		at := r.pos
		switch r.byte() {
		case 0x60:
		case 0x4d, 0x4e, 0x4f, 0x50, 0x5e, 0x5f:
			r.fail(at, refusal(0xfb))
		default:
			r.fail(at, "unknown kind of type")
		}
		t := funcType{params: m.valTypes(r, "parameters")}
		t.results = m.valTypes(r, "results")
		if r.err != nil {
			return
		}
		m.types = append(m.types, t)
	}
}

func (m *module) valTypes(r *reader, what string) []byte {
	n := r.count(what, m.bounds.ValuesPerType)
	start := r.pos
	for range n {
		r.valType()
	}
	return r.buf[start:r.pos]
}

func (m *module) readImports(r *reader) {
	n := r.count("imports", m.bounds.Imports)
	m.imports = make([]external, 0, n)
	for range n {
		e := external{
			module: r.name("module name", m.bounds.NameBytes),
			name:   r.name("import name", m.bounds.NameBytes),
		}
		at := r.pos
		e.kind = r.byte()
		e.desc.start = r.pos
		m.readImport(r, &e, at)
		e.desc.end = r.pos
		if r.err != nil {
			return
		}
		m.imports = append(m.imports, e)
	}
	m.imported = len(m.funcs)
	m.importedTables, m.importedMemories = len(m.tables), len(m.memories)
}

func (m *module) readImport(r *reader, e *external, at int) {
	switch e.kind {
	case kindFunc:
		e.index = m.readFunction(r)
	case kindTable:
		m.readTable(r)
	case kindMemory:
		m.readMemory(r)
	case kindGlobal:
		m.readGlobal(r, true)
	case kindTag:
		r.fail(at, refusal(0x06))
	default:
		r.fail(at, "unknown kind of import")
	}
}

// readFunction reads the type of a function.
func (m *module) readFunction(r *reader) uint32 {
	at := r.pos
	t := r.u32()
	if r.err != nil {
		return 0
	}
	if uint64(t) >= uint64(len(m.types)) {
		r.fail(at, "no such type")
		return 0
	}
	if len(m.funcs) >= m.bounds.Functions {
		r.fail(at, over("functions", uint64(len(m.funcs))+1, uint64(m.bounds.Functions)))
		return 0
	}
	m.funcs = append(m.funcs, t)
	return t
}

func (m *module) readFunctions(r *reader) {
	n := r.further("functions", len(m.funcs), m.bounds.Functions)
	for i := 0; i < n && r.err == nil; i++ {
		m.readFunction(r)
	}
}

// readLimits reads the limits of a memory or a table.
func readLimits(r *reader) limits {
	at := r.pos
	flags := r.byte()
	switch {
	case r.err != nil:
		return limits{}
	case flags&2 != 0 && flags < 8:
		r.fail(at, unsupported("shared memory (threads: a wait could not be interrupted)"))
	case flags&4 != 0 && flags < 8:
		r.fail(at, unsupported("64-bit memory (memory64)"))
	case flags > 1:
		r.fail(at, "unknown flags of limits")
	}
	l := limits{min: uint64(r.u32()), hasMax: flags&1 != 0}
	if l.hasMax {
		l.max = uint64(r.u32())
	}
	return l
}

func (m *module) readTables(r *reader) {
	n := r.count("tables", m.bounds.Tables)
	for i := 0; i < n && r.err == nil; i++ {
		m.readTable(r)
	}
}

func (m *module) readTable(r *reader) {
	at := r.pos
	if r.peek() == 0x40 {
		r.fail(at, refusal(0x14))
	}
	t := table{elem: r.refType()}
	t.limits = readLimits(r)
	if r.err != nil {
		return
	}
	sum := t.min
	for _, other := range m.tables {
		sum += other.min
	}
	switch {
	case len(m.tables) >= m.bounds.Tables:
		r.fail(at, over("tables", uint64(len(m.tables))+1, uint64(m.bounds.Tables)))
	case sum > uint64(m.bounds.TableEntries):
		r.fail(at, over("table entries at the start", sum, uint64(m.bounds.TableEntries)))
	}
	m.tables = append(m.tables, t)
}

func (m *module) readMemories(r *reader) {
	for n := r.count("memories", m.bounds.Imports); n > 0 && r.err == nil; n-- {
		m.readMemory(r)
	}
}

// pageSize is the unit of memory sizes, and maxPages the most that 32 bits reach.
const (
	pageSize = 64 << 10
	maxPages = 1 << 16
)

func (m *module) readMemory(r *reader) {
	at := r.pos
	l := readLimits(r)
	if r.err != nil {
		return
	}
	limit := m.bounds.MemoryMin
	if m.opts.MaxMemory > 0 {
		limit = min(limit, m.opts.MaxMemory)
	}
	switch {
	case len(m.memories) > 0:
		r.fail(at, unsupported("more than one memory (multi-memory)"))
	case l.min*pageSize > limit:
		r.fail(at, over("bytes of memory at the start", l.min*pageSize, limit))
	}
	m.memories = append(m.memories, l)
}

func (m *module) readGlobals(r *reader) {
	n := r.further("globals", len(m.globals), m.bounds.Globals)
	for i := 0; i < n && r.err == nil; i++ {
		m.readGlobal(r, false)
		m.constExpr(r)
	}
}

func (m *module) readGlobal(r *reader, imported bool) {
	g := global{valType: r.valType(), imported: imported}
	at := r.pos
	switch r.byte() {
	case 0:
	case 1:
		g.mutable = true
	default:
		r.fail(at, "unknown flags of a global")
	}
	if len(m.globals) >= m.bounds.Globals {
		r.fail(at, over("globals", uint64(len(m.globals))+1, uint64(m.bounds.Globals)))
	}
	m.globals = append(m.globals, g)
}

func (m *module) readExports(r *reader) {
	n := r.count("exports", m.bounds.Exports)
	m.exports = make([]external, 0, n)
	m.exported = make([]bool, len(m.funcs))
	for range n {
		e := external{name: r.name("export name", m.bounds.NameBytes)}
		at := r.pos
		e.kind = r.byte()
		e.index = r.u32()
		m.checkExport(r, at, &e)
		if r.err != nil {
			return
		}
		m.exports = append(m.exports, e)
	}
}

// checkExport sees to it that no export reaches what the rewriting adds.
func (m *module) checkExport(r *reader, at int, e *external) {
	var n int
	switch e.kind {
	case kindFunc:
		n = len(m.funcs)
		if uint64(e.index) < uint64(n) {
			m.exported[e.index] = true
		}
	case kindTable:
		n = len(m.tables)
	case kindMemory:
		n = len(m.memories)
	case kindGlobal:
		n = len(m.globals)
	case kindTag:
		r.fail(at, refusal(0x06))
	default:
		r.fail(at, "unknown kind of export")
	}
	if uint64(e.index) >= uint64(n) {
		r.fail(at, "export of what is not there")
	}
}

func (m *module) readStart(r *reader) {
	at := r.pos
	f := m.function(r, at, r.u32())
	if r.err != nil {
		return
	}
	if t := m.types[m.funcs[f]]; len(t.params)+len(t.results) > 0 {
		r.fail(at, "the start function takes and returns nothing")
	}
	m.start = int(f)
}

func (m *module) readData(r *reader) {
	n := r.count("data segments", m.bounds.DataSegments)
	for i := 0; i < n && r.err == nil; i++ {
		at := r.pos
		switch r.u32() {
		case 0:
			m.constExpr(r)
		case 1:
		case 2:
			if r.u32() != 0 {
				r.fail(at, unsupported("more than one memory (multi-memory)"))
			}
			m.constExpr(r)
		default:
			r.fail(at, "unknown kind of data segment")
		}
		r.bytes(r.u32())
	}
}
