package prepass

import "unicode/utf8"

// nameSection writes the names of functions anew, under their new indices, so
// that the trace of a trap can show them. Everything else in custom sections,
// names of locals and debug information among them, speaks of places that are no
// longer there, or of nothing that an engine needs, and is left out. A malformed
// section "name" is left out too, as the standard asks for.
func (e *encoder) nameSection() {
	names, ok := e.m.functionNames()
	if !ok || !e.active {
		return
	}
	w := &e.w
	w.byte(secCustom)
	section := w.open()
	w.name("name")
	w.byte(1)
	sub := w.open()
	w.u32(uint32(len(names) + e.helperCount() + 1))
	refill := true
	for _, n := range names {
		if refill && int(n.index) >= e.m.imported {
			refill = false
			e.functionName(e.refill, []byte(ReservedPrefix+ImportRefill))
		}
		e.functionName(e.fn(n.index), e.m.wasm[n.text.start:n.text.end])
	}
	if refill {
		e.functionName(e.refill, []byte(ReservedPrefix+ImportRefill))
	}
	for h, used := range e.uses {
		if used {
			e.functionName(e.helper[h], []byte(helperNames[h]))
		}
	}
	w.close(sub)
	w.close(section)
}

// functionName is an entry of a name map.
type functionName struct {
	index uint32
	text  span
}

// functionNames reads the names of functions; false where there are none, or
// none that are well-formed.
func (m *module) functionNames() ([]functionName, bool) {
	r := reader{buf: m.wasm, pos: m.names.start, end: m.names.end}
	for r.more() {
		id, size := r.byte(), r.u32()
		start := r.pos
		r.bytes(size)
		if r.err == nil && id == 1 {
			sub := reader{buf: m.wasm, pos: start, end: r.pos}
			return m.nameMap(&sub)
		}
	}
	return nil, false
}

func (m *module) nameMap(r *reader) ([]functionName, bool) {
	names := make([]functionName, 0, r.count("names", len(m.funcs)))
	for range cap(names) {
		index := r.u32()
		text := r.bytes(r.u32())
		ordered := len(names) == 0 || index > names[len(names)-1].index
		if r.err != nil || !ordered || int64(index) >= int64(len(m.funcs)) || !utf8.Valid(text) {
			return nil, false
		}
		names = append(names, functionName{index, span{r.pos - len(text), r.pos}})
	}
	return names, r.err == nil && r.pos == r.end && len(names) > 0
}

func (e *encoder) functionName(index uint32, name []byte) {
	e.w.u32(index)
	e.w.u32(uint32(len(name)))
	e.w.byte(name...)
}
