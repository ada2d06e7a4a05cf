package prepass

import (
	"cmp"
	"strconv"
	"strings"
)

func (m *module) encode(p plan) *Module {
	e := &encoder{m: m, plan: p, active: len(m.code.bodies) > 0, uses: m.code.uses}
	e.w.b = make([]byte, 0, len(m.wasm)+len(m.wasm)/2+1024)
	e.prepare()
	e.w.byte([]byte("\x00asm\x01\x00\x00\x00")...)
	e.typeSection()
	e.importSection()
	e.functionSection()
	e.tableSection()
	e.memorySection()
	e.globalSection()
	e.exportSection()
	e.startSection()
	e.elementSection()
	e.copySection(secDataCount)
	e.codeSection()
	e.copySection(secData)
	e.nameSection()
	e.facts.Frozen = m.frozen.reason()
	e.facts.Start = m.start >= 0
	return &Module{Wasm: e.w.b, Facts: e.facts}
}

// prepare gives numbers to what is added.
func (e *encoder) prepare() {
	m := e.m
	if !e.active {
		return
	}
	stack := cmp.Or(m.opts.MaxStack, DefaultMaxStack)
	e.stack = uint32(max(0, min(stack, 1<<31-1)))
	e.refill = uint32(m.imported)
	e.fuel = uint32(len(m.globals))
	e.depth = e.fuel + 1
	e.uses[helperDrain] = true
	e.uses[helperOverflow] = e.plan.frames
	for i := range m.code.bodies {
		e.uses[helperSettle] = e.uses[helperSettle] || e.plan.advance[i] > 0
	}
	next := uint32(len(m.funcs)) + 1
	for h, used := range e.uses {
		if used {
			e.helper[h] = next
			next++
		}
	}
	e.prepareTypes()
}

// prepareTypes finds or adds the types that what is added needs.
func (e *encoder) prepareTypes() {
	e.typeOf = make(map[string]uint32, len(e.m.types))
	for i, t := range e.m.types {
		key := typeKey(string(t.params), string(t.results))
		if _, ok := e.typeOf[key]; !ok {
			e.typeOf[key] = uint32(i)
		}
	}
	e.typeIndex("\x7e", "\x7e")
	for h, used := range e.uses {
		if used {
			e.typeIndex(helperTypes[h][0], helperTypes[h][1])
		}
	}
	e.wrappers = make([]uint32, len(e.m.code.bodies))
	for i := range e.m.code.bodies {
		results := e.m.types[e.m.funcs[e.m.imported+i]].results
		if (e.plan.advance[i] > 0 || e.plan.frame[i] > 0) && len(results) > 1 {
			e.wrappers[i] = e.typeIndex("", string(results))
		}
	}
}

func (e *encoder) typeSection() {
	if !e.present(secType) && len(e.added) == 0 {
		return
	}
	e.w.section(secType, func() {
		e.entries(secType, len(e.m.types)+len(e.added))
		for _, t := range e.added {
			e.w.byte(0x60)
			e.w.name(string(t.params))
			e.w.name(string(t.results))
		}
	})
}

func (e *encoder) importSection() {
	m, w := e.m, &e.w
	if len(m.imports) == 0 && !e.active {
		e.copySection(secImport)
		return
	}
	w.section(secImport, func() {
		n := len(m.imports)
		if e.active {
			n++
		}
		w.u32(uint32(n))
		for _, i := range m.imports {
			mod, name := i.module, i.name
			if m.opts.Rename != nil {
				mod, name = m.opts.Rename(mod, name)
			}
			w.name(mod)
			w.name(name)
			w.byte(i.kind)
			e.copySpan(i.desc)
		}
		if e.active {
			w.name(ImportModule)
			w.name(ImportRefill)
			w.byte(kindFunc)
			w.u32(e.typeOf[typeKey("\x7e", "\x7e")])
		}
	})
}

func (e *encoder) functionSection() {
	if !e.active {
		e.copySection(secFunction)
		return
	}
	e.w.section(secFunction, func() {
		e.entries(secFunction, len(e.m.code.bodies)+e.helperCount())
		for h, used := range e.uses {
			if used {
				e.w.u32(e.typeOf[typeKey(helperTypes[h][0], helperTypes[h][1])])
			}
		}
	})
}

// exportSection leaves reserved names out and adds the globals that code sets.
func (e *encoder) exportSection() {
	m, w := e.m, &e.w
	var globals []uint32
	for i, g := range m.globals {
		switch {
		case !g.set || !g.mutable:
		case g.imported:
			m.frozen.importedGlobal = true
		case g.valType < 0x7c:
			m.frozen.oddGlobal = true
		default:
			globals = append(globals, uint32(i))
		}
	}
	kept := make([]external, 0, len(m.exports))
	for _, x := range m.exports {
		if !strings.HasPrefix(x.name, ReservedPrefix) {
			kept = append(kept, x)
		}
	}
	if len(kept)+len(globals) == 0 {
		return
	}
	w.section(secExport, func() {
		w.u32(uint32(len(kept) + len(globals)))
		for _, x := range kept {
			w.name(x.name)
			w.byte(x.kind)
			if x.kind == kindFunc {
				x.index = e.fn(x.index)
			}
			w.u32(x.index)
		}
		for _, i := range globals {
			name := GlobalPrefix + strconv.Itoa(int(i))
			e.facts.Globals = append(e.facts.Globals, name)
			w.name(name)
			w.byte(kindGlobal)
			w.u32(i)
		}
	})
}

func (e *encoder) startSection() {
	if e.m.start >= 0 {
		e.w.section(secStart, func() { e.w.u32(e.fn(uint32(e.m.start))) })
	}
}

func (e *encoder) elementSection() {
	if e.present(secElement) {
		e.w.section(secElement, func() { e.renew(e.m.sections[secElement]) })
	}
}
