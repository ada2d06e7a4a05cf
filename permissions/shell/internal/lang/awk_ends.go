package lang

// ends reports whether a counted loop surely ends: nothing but its step moves
// the variable, and what it is compared with neither moves nor is so large, or
// of such a kind, that the variable never passes it.
func (p *awkParser) ends(loop awkLoop) bool {
	if awkSpecial.has(loop.name) {
		return false
	}
	during := p.during(loop.from, loop.to, loop.step, loop.inside)
	for _, e := range during {
		if e.kind == awkAssign && e.name == loop.name && e.scope() == loop.scope() {
			return false
		}
	}
	for _, term := range loop.start {
		if !p.countable(loop, term) {
			return false
		}
	}
	for _, term := range loop.limit {
		if !p.countable(loop, term) || !p.stays(loop, term, during) {
			return false
		}
	}
	return true
}

// during returns the events of a span but for one, and, where the span calls a
// function, those of all functions but the one it stands in (which cannot be
// called again before it returns).
func (p *awkParser) during(from, to, except int, inside *awkFunc) []awkEvent {
	var events []awkEvent
	calls := false
	for i := from; i < to; i++ {
		if i != except {
			events = append(events, p.events[i])
			calls = calls || p.events[i].kind == awkInvoke
		}
	}
	if !calls {
		return events
	}
	for _, f := range p.funcs {
		if f != inside {
			events = append(events, p.events[f.from:f.to]...)
		}
	}
	return events
}

// scope is the function that has the event's variable as a parameter, or nil.
func (e awkEvent) scope() *awkFunc { return awkScope(e.inside, e.name) }

func (l awkLoop) scope() *awkFunc { return awkScope(l.inside, l.name) }

func awkScope(inside *awkFunc, name string) *awkFunc {
	if inside != nil && inside.params[name] {
		return inside
	}
	return nil
}

// countable reports whether a term is a number that can be counted up to.
func (p *awkParser) countable(loop awkLoop, term awkTerm) bool {
	if term.kind != awkCounter {
		return true
	}
	if term.name == loop.name || p.assigned[term.name] || p.isParameter(term.name) {
		return false
	}
	switch term.name {
	case "NF", "NR", "FNR":
	default:
		if awkSpecial.has(term.name) {
			return false
		}
	}
	for _, e := range p.events {
		if e.name == term.name && (e.kind != awkAssign || !p.counts(e)) && e.kind != awkField {
			return false
		}
	}
	return true
}

func (p *awkParser) isParameter(name string) bool {
	for _, f := range p.funcs {
		if f.params[name] {
			return true
		}
	}
	return false
}

// counts reports whether an assignment leaves its variable something countable,
// if it was so before: a step up or down, a length, a number of fields or parts.
// The variable itself may be in a sum, but no other one: two of them could
// double with each turn.
func (p *awkParser) counts(e awkEvent) bool {
	switch e.op {
	case "++", "--":
		return true
	case "=", "+=", "-=":
		return p.countsFrom(e.tok+1, e)
	}
	return false
}

// countsFrom looks at the tokens that an assignment has on its right side.
func (p *awkParser) countsFrom(at int, e awkEvent) bool {
	if p.token(at).is("split") || p.token(at).is("length") {
		return awkEndsValue(p.token(p.afterCall(at)))
	}
	itself := e.op != "="
	for ; ; at += 2 {
		t := p.token(at)
		switch {
		case t.kind == awkNumber && awkCountable(t.text), t.is("NF"), t.is("NR"), t.is("FNR"):
		case t.kind == awkName && t.text == e.name && !itself:
			itself = true
		default:
			return false
		}
		if next := p.token(at + 1); !next.is("+") && !next.is("-") {
			return awkEndsValue(next)
		}
	}
}

// afterCall returns the place behind a call, which is that of a name where it
// has no arguments.
func (p *awkParser) afterCall(at int) int {
	at++
	if !p.token(at).is("(") {
		return at
	}
	for depth := 0; at < len(p.toks); at++ {
		switch {
		case p.toks[at].is("("):
			depth++
		case p.toks[at].is(")"):
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return at
}

// awkEndsValue reports whether nothing more belongs to an assigned value.
func awkEndsValue(t awkToken) bool {
	return awkEnds(t) || t.is(")") || t.is(",") || t.is("]")
}

// stays reports whether a term of a loop's bound is the same on each turn.
func (p *awkParser) stays(loop awkLoop, term awkTerm, during []awkEvent) bool {
	switch {
	case term.kind == awkNumeral:
		return true
	case term.kind == awkRecordLength:
		return !changesRecord(during, func(awkEvent) bool { return false })
	case term.kind == awkVariableLength:
		return p.isScalar(term.name) && !assigns(during, term.name)
	case term.name == "NF":
		// A field below NF changes no NF, and the variable is below it.
		below := loop.up && len(loop.limit) == 1
		return !assigns(during, "NF") && !changesRecord(during, func(e awkEvent) bool {
			return below && e.name == loop.name && e.scope() == loop.scope()
		})
	default:
		return !assigns(during, term.name)
	}
}

func assigns(events []awkEvent, name string) bool {
	for _, e := range events {
		if e.kind == awkAssign && e.name == name {
			return true
		}
	}
	return false
}

// changesRecord reports whether an event changes a field, but for those that
// are harmless.
func changesRecord(events []awkEvent, harmless func(awkEvent) bool) bool {
	for _, e := range events {
		if e.kind == awkField && !harmless(e) {
			return true
		}
	}
	return false
}

// isScalar reports whether a name surely is no array: the length of one grows
// when an element is looked at.
func (p *awkParser) isScalar(name string) bool {
	if p.isParameter(name) {
		return false
	}
	for _, e := range p.events {
		if e.name == name && (e.kind == awkElement || e.kind == awkArray) {
			return false
		}
	}
	return true
}

// endsIn reports whether a loop over an array surely ends: some awks meet keys
// that are added while it runs. Inside of functions arrays may be one under two
// names.
func (p *awkParser) endsIn(loop awkForIn) bool {
	if awkSpecial.has(loop.key) {
		return false
	}
	for _, e := range p.events[loop.from:loop.to] {
		switch {
		case e.kind == awkInvoke:
			return false
		case e.kind == awkAssign && e.name == loop.key:
			return false
		case e.kind == awkArray && (e.name == loop.array || loop.inside != nil):
			return false
		case e.kind == awkElement && e.name == loop.array && e.index != loop.key:
			return false
		case e.kind == awkElement && e.name != loop.array && loop.inside != nil:
			return false
		}
	}
	return true
}
