package prepass

func (e *encoder) limits(l limits) {
	if !l.hasMax {
		e.w.byte(0)
		e.w.u32(uint32(l.min))
		return
	}
	e.w.byte(1)
	e.w.u32(uint32(l.min))
	e.w.u32(uint32(l.max))
}

// tableSection states a maximum for each table: what the bound leaves after all
// minima is shared out evenly.
func (e *encoder) tableSection() {
	m := e.m
	own := m.tables[m.importedTables:]
	if len(own) == 0 {
		e.copySection(secTable)
		return
	}
	left := uint64(m.bounds.TableEntries)
	for _, t := range m.tables {
		left -= t.min
	}
	share := left / uint64(len(own))
	e.w.section(secTable, func() {
		e.w.u32(uint32(len(own)))
		for _, t := range own {
			if !t.hasMax || t.max > t.min+share {
				t.hasMax, t.max = true, t.min+share
			}
			e.w.byte(t.elem)
			e.limits(t.limits)
		}
	})
}

func (e *encoder) memorySection() {
	m := e.m
	if len(m.memories) > 0 {
		l := e.capped(m.memories[0])
		e.facts.MemoryMin = l.min * pageSize
		if l.hasMax {
			e.facts.MemoryMax = l.max * pageSize
		}
	}
	if m.importedMemories == len(m.memories) {
		e.copySection(secMemory)
		return
	}
	e.w.section(secMemory, func() {
		e.w.u32(1)
		e.limits(e.capped(m.memories[0]))
	})
}

// capped applies the host's cap to a memory of the module's own.
func (e *encoder) capped(l limits) limits {
	pages := e.m.opts.MaxMemory / pageSize
	if e.m.opts.MaxMemory == 0 || pages >= maxPages || e.m.importedMemories > 0 {
		return l
	}
	if !l.hasMax || l.max > pages {
		l.hasMax, l.max = true, pages
	}
	return l
}

func (e *encoder) globalSection() {
	if !e.active {
		if e.present(secGlobal) {
			e.w.section(secGlobal, func() { e.entries(secGlobal, e.declaredGlobals()) })
		}
		return
	}
	e.w.section(secGlobal, func() {
		n := e.declaredGlobals() + 1
		if e.plan.frames {
			n++
		}
		e.entries(secGlobal, n)
		e.w.byte(typeI64, 1)
		e.w.i64(0)
		e.w.byte(opEnd)
		if e.plan.frames {
			e.w.byte(typeI32, 1)
			e.w.i32(int32(e.stack))
			e.w.byte(opEnd)
		}
	})
}

func (e *encoder) declaredGlobals() int {
	n := 0
	for _, g := range e.m.globals {
		if !g.imported {
			n++
		}
	}
	return n
}
