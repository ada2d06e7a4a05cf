package wasmgen

import (
	"encoding/binary"
	"slices"
)

// Module is a WebAssembly module under construction. The zero value is an empty
// one. See the package's comment for how to use it.
type Module struct {
	types   vector
	known   map[string]uint32 // index of a type by its encoding
	imports vector
	funcs   []function
	start   *uint32
	tables  vector
	memory  vector
	globals vector
	exports vector
	elems   vector
	data    vector
	raw     []rawSection

	imported [4]uint32 // number of imports of each Kind
}

type function struct {
	typ  uint32
	body []byte
}

type rawSection struct {
	after, id byte
	payload   []byte
}

// vector is a section's payload: a count and the encoded entries.
type vector struct {
	n       uint32
	entries []byte
}

func (v *vector) next() uint32 { v.n++; return v.n - 1 }

func (v *vector) encode() []byte {
	return append(binary.AppendUvarint(nil, uint64(v.n)), v.entries...)
}

// Type adds a function type, once, and returns its index.
func (m *Module) Type(t FuncType) uint32 {
	encoded := t.encode()
	index, ok := m.known[encoded]
	if ok {
		return index
	}
	index = m.AddType(t)
	if m.known == nil {
		m.known = map[string]uint32{}
	}
	m.known[encoded] = index
	return index
}

// AddType adds a function type, also where the module has the same one already,
// and returns its index.
func (m *Module) AddType(t FuncType) uint32 {
	m.types.entries = append(m.types.entries, t.encode()...)
	return m.types.next()
}

// ImportFunc imports a function and returns its index. All imports of a kind
// come before the module's own, whose indexes follow theirs.
func (m *Module) ImportFunc(module, name string, t FuncType) uint32 {
	typ := m.Type(t)
	return m.importing(module, name, Function, binary.AppendUvarint(nil, uint64(typ)), len(m.funcs) > 0)
}

// ImportMemory imports a memory and returns its index.
func (m *Module) ImportMemory(module, name string, l Limits) uint32 {
	return m.importing(module, name, Memory, l.append(nil), m.memory.n > 0)
}

// ImportGlobal imports a global and returns its index.
func (m *Module) ImportGlobal(module, name string, t ValType, mutable bool) uint32 {
	return m.importing(module, name, Global, []byte{byte(t), flag(mutable)}, m.globals.n > 0)
}

// importing adds an import. Definitions that are there already would be given
// other indexes by it, so that is a mistake in the calling test.
func (m *Module) importing(module, name string, k Kind, desc []byte, late bool) uint32 {
	if late {
		panic("wasmgen: import of " + module + "." + name + " after a definition of its kind")
	}
	e := appendName(m.imports.entries, module)
	e = append(appendName(e, name), byte(k))
	e = append(e, desc...)
	m.imports.entries = e
	m.imports.n++
	m.imported[k]++
	return m.imported[k] - 1
}

// Func adds a function and returns its index. The end of the body is added.
func (m *Module) Func(t FuncType, body *Code, locals ...Locals) uint32 {
	index := m.Declare(t)
	m.Define(index, body, locals...)
	return index
}

// Declare adds a function whose body comes later, by [Module.Define], and
// returns its index. Until then its body is the instruction unreachable.
func (m *Module) Declare(t FuncType) uint32 {
	m.funcs = append(m.funcs, function{m.Type(t), []byte{0, byte(Unreachable), byte(end)}})
	return m.imported[Function] + uint32(len(m.funcs)) - 1
}

// Define gives a declared function its body. The end of the body is added.
func (m *Module) Define(index uint32, body *Code, locals ...Locals) {
	code := binary.AppendUvarint(nil, uint64(len(locals)))
	for _, l := range locals {
		code = append(binary.AppendUvarint(code, uint64(l.Count)), byte(l.Type))
	}
	code = append(slices.Grow(code, len(body.b)+1), body.b...)
	code = append(code, byte(end))
	m.funcs[index-m.imported[Function]].body = code
}

// Start makes a function run when the module is instantiated.
func (m *Module) Start(index uint32) { m.start = &index }

// Table adds a table of [FuncRef] or [ExternRef] and returns its index.
func (m *Module) Table(t ValType, l Limits) uint32 {
	m.tables.entries = l.append(append(m.tables.entries, byte(t)))
	return m.imported[Table] + m.tables.next()
}

// Memory adds a memory and returns its index.
func (m *Module) Memory(l Limits) uint32 {
	m.memory.entries = l.append(m.memory.entries)
	return m.imported[Memory] + m.memory.next()
}

// Global adds a global that starts as the value of a constant expression, such
// as new(Code).I32(1), and returns its index.
func (m *Module) Global(t ValType, mutable bool, init *Code) uint32 {
	m.globals.entries = append(m.globals.entries, byte(t), flag(mutable))
	m.globals.entries = append(append(m.globals.entries, init.b...), byte(end))
	return m.imported[Global] + m.globals.next()
}

// Export exports the index of a kind by a name.
func (m *Module) Export(name string, k Kind, index uint32) {
	e := append(appendName(m.exports.entries, name), byte(k))
	m.exports.entries = binary.AppendUvarint(e, uint64(index))
	m.exports.n++
}

// Data adds an active data segment of memory 0 at an offset and returns its
// index.
func (m *Module) Data(offset *Code, data []byte) uint32 {
	e := append(append(append(m.data.entries, 0), offset.b...), byte(end))
	m.data.entries = appendBytes(e, data)
	return m.data.next()
}

// PassiveData adds a passive data segment and returns its index. Modules that
// name data segments in their code get the data count section they need.
func (m *Module) PassiveData(data []byte) uint32 {
	m.data.entries = appendBytes(append(m.data.entries, 1), data)
	return m.data.next()
}

// Elem adds an active segment of functions of a table at an offset and returns
// its index.
func (m *Module) Elem(table uint32, offset *Code, funcs ...uint32) uint32 {
	e := binary.AppendUvarint(append(m.elems.entries, 2), uint64(table))
	e = append(append(append(e, offset.b...), byte(end)), 0)
	m.elems.entries = appendIndexes(e, funcs)
	return m.elems.next()
}

// PassiveElem adds a passive segment of functions and returns its index.
func (m *Module) PassiveElem(funcs ...uint32) uint32 {
	m.elems.entries = appendIndexes(append(m.elems.entries, 1, 0), funcs)
	return m.elems.next()
}

// DeclareElem adds a declarative segment, which permits ref.func of the
// functions it names, and returns its index.
func (m *Module) DeclareElem(funcs ...uint32) uint32 {
	m.elems.entries = appendIndexes(append(m.elems.entries, 3, 0), funcs)
	return m.elems.next()
}

// Custom adds a custom section at the end of the module.
func (m *Module) Custom(name string, data []byte) {
	m.Raw(sectionData, sectionCustom, append(appendName(nil, name), data...))
}

// Raw adds a section of any id and content behind the place of the section
// after, 0 being the module's beginning.
func (m *Module) Raw(after, id byte, payload []byte) {
	m.raw = append(m.raw, rawSection{after, id, payload})
}
