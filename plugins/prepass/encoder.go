package prepass

// encoder writes a module anew.
type encoder struct {
	m    *module
	plan plan
	w    writer

	// active says that anything is added: there is code.
	active bool
	// refill is the index of the imported function, fuel and depth those of the
	// globals, helper those of the helper functions.
	refill, fuel, depth uint32
	helper              [helpers]uint32
	uses                [helpers]bool
	stack               uint32

	added    []funcType // types behind the original ones
	typeOf   map[string]uint32
	wrappers []uint32 // block types of bodies that give a frame back
	nextRef  int      // the next of m.refs
	facts    Facts
}

func typeKey(params, results string) string { return params + ">" + results }

func (e *encoder) typeIndex(params, results string) uint32 {
	key := typeKey(params, results)
	i, ok := e.typeOf[key]
	if !ok {
		i = uint32(len(e.m.types) + len(e.added))
		e.typeOf[key] = i
		e.added = append(e.added, funcType{params: []byte(params), results: []byte(results)})
	}
	return i
}

// fn is the new index of a function.
func (e *encoder) fn(i uint32) uint32 {
	if e.active && int(i) >= e.m.imported {
		return i + 1
	}
	return i
}

func (e *encoder) present(id int) bool { return e.m.sections[id] != span{} }

func (e *encoder) copySpan(s span) { e.w.b = append(e.w.b, e.m.wasm[s.start:s.end]...) }

func (e *encoder) copySection(id int) {
	if e.present(id) {
		e.w.section(byte(id), func() { e.copySpan(e.m.sections[id]) })
	}
}

// entries writes a section's vector: its length, then the original entries with
// function indices renewed.
func (e *encoder) entries(id int, count int) {
	e.w.u32(uint32(count))
	if !e.present(id) {
		return
	}
	r := reader{buf: e.m.wasm, pos: e.m.sections[id].start, end: e.m.sections[id].end}
	r.u32()
	e.renew(span{r.pos, r.end})
}

func (e *encoder) helperCount() int {
	n := 0
	for _, used := range e.uses {
		if used {
			n++
		}
	}
	return n
}

// renew copies a part of the binary with new function indices.
func (e *encoder) renew(s span) {
	at := s.start
	for ; e.nextRef < len(e.m.refs) && e.m.refs[e.nextRef].pos < s.end; e.nextRef++ {
		ref := e.m.refs[e.nextRef]
		if ref.pos < at {
			continue
		}
		e.copySpan(span{at, ref.pos})
		r := reader{buf: e.m.wasm, pos: ref.pos, end: s.end}
		e.w.u32(e.fn(r.u32()))
		at = r.pos
	}
	e.copySpan(span{at, s.end})
}

// unless does something where a comparison of the two values on the stack does
// not hold. It goes into the second arm of an if, behind an empty first one:
// compilers that go through blocks in order then take the usual way for the
// usual one, and keep in registers what is in registers there.
func (e *encoder) unless(compare byte, do func()) {
	e.w.byte(compare, opIf, opCallVoid, opElse)
	do()
	e.w.byte(opEnd)
}
