package prepass

// Section numbers, in the binary's own terms.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
)

var sectionNames = [...]string{
	"custom", "type", "import", "function", "table", "memory", "global",
	"export", "start", "element", "code", "data", "data count", "tag",
}

// sectionRank is the place of each section in the order that the binary format
// prescribes.
var sectionRank = [...]int{
	secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5,
	secTag: 6, secGlobal: 7, secExport: 8, secStart: 9, secElement: 10,
	secDataCount: 11, secCode: 12, secData: 13,
}

// span is a part of the original binary.
type span struct{ start, end int }

type funcType struct {
	// params and results are value types, one byte each.
	params, results []byte
}

type global struct {
	valType           byte
	mutable, imported bool
	// set says that code sets it.
	set bool
}

type limits struct {
	min, max uint64
	hasMax   bool
}

type table struct {
	elem byte
	limits
}

// external is an entry of the import or the export section.
type external struct {
	module, name string
	kind         byte
	// index is what is exported, or the type of an imported function.
	index uint32
	// desc is an imported table's, memory's or global's description.
	desc span
}

// Kinds of externals.
const (
	kindFunc = iota
	kindTable
	kindMemory
	kindGlobal
	kindTag
)

// module is what decoding finds out. Indices are those of the original.
type module struct {
	wasm   []byte
	bounds Bounds
	opts   Options

	sections [secTag + 1]span
	names    span // contents of the custom section "name"

	types    []funcType
	imports  []external
	funcs    []uint32 // types of all functions, imported ones first
	imported int      // imported functions
	tables   []table
	memories []limits
	globals  []global
	exports  []external
	start    int // function, or -1
	// refs are the places outside of code that hold function indices, in order.
	refs []funcRef

	importedTables, importedMemories int
	// reachable are the functions that something else than a direct call may
	// reach from within the module: those whose reference is taken.
	reachable []bool
	// exported are the functions that are exported.
	exported []bool

	code   code
	frozen freeze
}

// freeze gathers what stands against putting an instance back by copying.
type freeze struct {
	tables, drops, importedMemory, importedGlobal, oddGlobal bool
}

func (f freeze) reason() string {
	switch {
	case f.tables:
		return "it changes tables"
	case f.drops:
		return "it drops segments"
	case f.importedMemory:
		return "its memory is imported"
	case f.importedGlobal:
		return "it sets an imported global"
	case f.oddGlobal:
		return "it sets a global of vector or reference type"
	}
	return ""
}

// decode reads everything but the insides of function bodies.
func decode(wasm []byte, o Options) (*module, *Error) {
	m := &module{wasm: wasm, bounds: o.Bounds.orDefault(), opts: o, start: -1}
	if len(wasm) > m.bounds.ModuleBytes {
		return nil, &Error{Offset: m.bounds.ModuleBytes, Message: over("bytes", uint64(len(wasm)), uint64(m.bounds.ModuleBytes))}
	}
	if err := checkHeader(wasm); err != nil {
		return nil, err
	}
	r := reader{buf: wasm, pos: 8, end: len(wasm)}
	last := 0
	for r.more() {
		last = m.section(&r, last)
	}
	if r.err != nil {
		return nil, r.err
	}
	return m, m.finish()
}

func checkHeader(wasm []byte) *Error {
	if len(wasm) < 8 || string(wasm[:4]) != "\x00asm" {
		return &Error{Message: "not a WebAssembly binary"}
	}
	switch string(wasm[4:8]) {
	case "\x01\x00\x00\x00":
		return nil
	case "\x0d\x00\x01\x00":
		return &Error{Offset: 4, Message: unsupported("the component model: this is a component, not a module, which")}
	}
	return &Error{Offset: 4, Message: "unknown version of the binary format"}
}

// section reads one section and returns its rank.
func (m *module) section(r *reader, last int) int {
	at := r.pos
	id := r.byte()
	if int(id) >= len(sectionNames) {
		r.fail(at, "unknown section")
		return last
	}
	r.section = sectionNames[id]
	size := r.u32()
	if r.err != nil {
		return last
	}
	if uint64(size) > uint64(r.end-r.pos) {
		r.fail(at, "length reaches past the end of the module")
		return last
	}
	s := reader{buf: r.buf, pos: r.pos, end: r.pos + int(size), section: r.section}
	r.pos = s.end
	if id == secCustom {
		m.custom(&s)
	} else {
		if sectionRank[id] <= last {
			r.fail(at, "section out of order or twice")
			return last
		}
		last = sectionRank[id]
		m.sections[id] = span{s.pos, s.end}
		m.known(int(id), &s)
		if s.err == nil && s.pos != s.end {
			s.fail(s.pos, "bytes left over at the end of the section")
		}
	}
	r.err = s.err
	r.section = ""
	return last
}

func (m *module) known(id int, r *reader) {
	switch id {
	case secType:
		m.readTypes(r)
	case secImport:
		m.readImports(r)
	case secFunction:
		m.readFunctions(r)
	case secTable:
		m.readTables(r)
	case secMemory:
		m.readMemories(r)
	case secGlobal:
		m.readGlobals(r)
	case secExport:
		m.readExports(r)
	case secStart:
		m.readStart(r)
	case secElement:
		m.readElements(r)
	case secDataCount:
		at := r.pos
		if n := r.u32(); uint64(n) > uint64(m.bounds.DataSegments) {
			r.fail(at, over("data segments", uint64(n), uint64(m.bounds.DataSegments)))
		}
	case secCode:
		m.readCode(r)
	case secData:
		m.readData(r)
	case secTag:
		r.fail(r.pos, refusal(0x06))
	}
}

// custom looks for the first section "name"; nothing else is kept.
func (m *module) custom(r *reader) {
	name := r.name("section name", m.bounds.NameBytes)
	if name == "name" && m.names == (span{}) {
		m.names = span{r.pos, r.end}
	}
}

// finish checks what only the whole module shows.
func (m *module) finish() *Error {
	if declared := len(m.funcs) - m.imported; declared != len(m.code.bodies) {
		return &Error{
			Section: "code", Offset: m.sections[secCode].start,
			Message: "function and code section do not have the same number of entries",
		}
	}
	m.frozen.importedMemory = m.importedMemories > 0
	return nil
}
