package lang

import "strings"

// awkLoop is a loop like for (i = 1; i <= NF; i++): a variable goes up or down
// by steps until it passes a bound.
type awkLoop struct {
	name string
	up   bool
	// start and limit are sums of these terms.
	start, limit []awkTerm
	// from and to are the events of condition and body, among which step is
	// the loop's own.
	from, to, step int
	inside         *awkFunc
}

// awkForIn is a loop over the keys of an array.
type awkForIn struct {
	key, array string
	from, to   int
	inside     *awkFunc
}

// awkTerm is something countable: a number, a counter, or a length. Its value is
// never so large that adding one to it changes nothing, nor is it text.
type awkTerm struct {
	kind awkTermKind
	name string
	// minus says that it is subtracted.
	minus bool
}

type awkTermKind byte

const (
	awkNumeral        awkTermKind = iota
	awkCounter                    // a variable
	awkRecordLength               // length, length(), length($0)
	awkVariableLength             // length(x)
)

// forStatement reads a for loop. What it must hold to end is looked at when the
// whole program is known.
func (p *awkParser) forStatement() {
	p.advance()
	p.expect("(")
	if key, array, ok := p.forInHead(); ok {
		p.note(awkEvent{kind: awkAssign, name: key})
		loop := awkForIn{key: key, array: array, from: len(p.events), inside: p.inside}
		p.body()
		loop.to = len(p.events)
		p.forIns = append(p.forIns, loop)
		return
	}
	p.parens++
	loop := awkLoop{inside: p.inside}
	loop.name = p.variable()
	p.assignLoop(loop.name, "=")
	loop.start = p.bound()
	p.expect(";")
	loop.from = len(p.events)
	p.loopCondition(&loop)
	p.expect(";")
	loop.step = len(p.events)
	p.loopStep(loop)
	p.expect(")")
	p.parens--
	p.body()
	loop.to = len(p.events)
	p.loops = append(p.loops, loop)
}

// assignLoop reads an assignment operator behind the loop's variable.
func (p *awkParser) assignLoop(name, op string) {
	p.assign(awkTarget{kind: awkVariable, name: name}, op)
	p.expect(op)
}

// forInHead reads "key in array)", or nothing.
func (p *awkParser) forInHead() (key, array string, ok bool) {
	before := *p
	key = p.tok.text
	if p.tok.kind == awkName && !awkReserved(key) {
		p.advance()
		if p.accept("in") {
			array = p.variable()
			p.expect(")")
			return key, array, true
		}
	}
	*p = before
	return "", "", false
}

// loopCondition reads "i <= bound" and, behind &&, what may end the loop sooner.
func (p *awkParser) loopCondition(loop *awkLoop) {
	if p.tok.kind != awkName || p.tok.text != loop.name {
		p.fail("it has a for loop that may not end")
		return
	}
	p.advance()
	switch {
	case p.accept("<"), p.accept("<="):
		loop.up = true
	case p.accept(">"), p.accept(">="):
	default:
		p.fail("it has a for loop that may not end")
		return
	}
	loop.limit = p.bound()
	if !p.accept("&&") {
		return
	}
	from := len(p.toks)
	p.expr()
	for _, t := range p.toks[from:] {
		if t.is("||") || t.is("?") {
			p.fail("it has a for loop that may not end")
			return
		}
	}
}

// loopStep reads i++, ++i, i += 2 and their counterparts.
func (p *awkParser) loopStep(loop awkLoop) {
	single, assign := "--", "-="
	if loop.up {
		single, assign = "++", "+="
	}
	prefixed := p.tok.is(single)
	if prefixed {
		p.advance()
	}
	if p.tok.kind != awkName || p.tok.text != loop.name {
		p.fail("it has a for loop that may not end")
		return
	}
	p.advance()
	switch {
	case prefixed:
		p.assign(awkTarget{kind: awkVariable, name: loop.name}, single)
	case p.tok.is(single):
		p.assignLoop(loop.name, single)
	default:
		p.assignLoop(loop.name, assign)
		if p.tok.kind != awkNumber || strings.Trim(p.tok.text, "0") == "" {
			p.fail("it has a for loop that may not end")
			return
		}
		p.numeral()
	}
}

// bound reads a sum of terms, which may be divided by a number.
func (p *awkParser) bound() []awkTerm {
	terms := []awkTerm{p.term()}
	for p.tok.is("+") || p.tok.is("-") {
		minus := p.tok.is("-")
		p.advance()
		term := p.term()
		term.minus = minus
		terms = append(terms, term)
	}
	if p.accept("/") {
		p.numeral()
	}
	return terms
}

// numeral reads a whole number of reasonable size.
func (p *awkParser) numeral() {
	if p.tok.kind != awkNumber || !awkCountable(p.tok.text) {
		p.fail("it has a for loop that may not end")
		return
	}
	p.advance()
}

// awkCountable reports whether a number is whole and far below 2^53.
func awkCountable(text string) bool {
	return len(text) < 10 && strings.Trim(text, "0123456789") == ""
}

func (p *awkParser) term() awkTerm {
	switch {
	case p.tok.kind == awkNumber:
		p.numeral()
		return awkTerm{kind: awkNumeral}
	case p.tok.is("length"):
		return p.lengthTerm()
	}
	if p.tok.call != awkNoCall {
		p.fail("it has a for loop that may not end")
	}
	return awkTerm{kind: awkCounter, name: p.variable()}
}

func (p *awkParser) lengthTerm() awkTerm {
	call := p.tok.call
	p.advance()
	record := awkTerm{kind: awkRecordLength}
	if call == awkNoCall {
		return record
	}
	p.expect("(")
	switch {
	case p.tok.is("$"):
		p.advance()
		if p.tok.text != "0" {
			p.fail("it has a for loop that may not end")
		}
		p.advance()
	case p.tok.kind == awkName:
		record = awkTerm{kind: awkVariableLength, name: p.variable()}
	}
	p.expect(")")
	return record
}
