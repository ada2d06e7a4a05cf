package lang

// awkEvent is something that a loop's end may depend on.
type awkEvent struct {
	kind awkEventKind
	// name is the variable, array or function; of a field, the variable or
	// number that says which, or empty.
	name string
	// index of an element is the one name in brackets, or empty.
	index string
	// op is the operator that assigns, or empty where something else does.
	op string
	// tok is the place of the operator in the list of tokens, if it stands
	// behind the name; inside is the function it is in.
	tok    int
	inside *awkFunc
}

type awkEventKind byte

const (
	awkAssign  awkEventKind = iota // a variable gets a value
	awkField                       // a field does, or the record
	awkElement                     // an array's element is named, which makes it
	awkArray                       // a whole array is changed, or handed over
	awkInvoke                      // a function of the program is called
)

func (p *awkParser) note(e awkEvent) {
	e.tok, e.inside = len(p.toks), p.inside
	p.events = append(p.events, e)
}

// awkTarget is what an expression refers to, where it is one that can be
// assigned to.
type awkTarget struct {
	kind awkTargetKind
	name string
}

type awkTargetKind byte

const (
	awkValue     awkTargetKind = iota // nothing that can be assigned to
	awkVariable                       // a variable, or an array
	awkTheField                       // a field
	awkTheMember                      // an element, noted already
)

// assign notes that the target gets a value, by an operator or, where op is
// empty, otherwise.
func (p *awkParser) assign(t awkTarget, op string) {
	switch t.kind {
	case awkVariable:
		p.note(awkEvent{kind: awkAssign, name: t.name, op: op})
	case awkTheField:
		p.note(awkEvent{kind: awkField, name: t.name})
		if op != "=" {
			p.note(awkEvent{kind: awkAssign, name: t.name}) // $i++, to whom it may be $(i++)
		}
	case awkTheMember:
	case awkValue:
		p.fail("it assigns to what is not a variable")
	}
}

// expr reads an expression: operands with operators, or nothing, between. Which
// binds tighter does not matter here. It returns what the expression refers to
// where it is a single operand.
func (p *awkParser) expr() awkTarget {
	defer p.nest()()
	first := p.operand()
	last := first
	for {
		switch {
		case awkAssigns(p.tok):
			p.assign(last, p.tok.text)
			p.advance()
		case p.tok.is("?"):
			p.advance()
			p.expr()
			p.expect(":")
		case p.tok.is("&&"), p.tok.is("||"):
			p.advance()
			p.skipNewlines()
		case p.tok.is("in"):
			p.advance()
			p.variable()
			first, last = awkTarget{}, awkTarget{}
			continue
		case p.tok.is(">") && p.parens == 0 && p.printing:
			return awkTarget{}
		case awkJoins(p.tok):
			p.advance()
		case !p.startsOperand():
			return first
		}
		first, last = awkTarget{}, p.operand()
	}
}

func awkAssigns(t awkToken) bool {
	switch t.text {
	case "=", "+=", "-=", "*=", "/=", "%=", "^=", "**=":
		return t.kind == awkOperator
	}
	return false
}

func awkJoins(t awkToken) bool {
	switch t.text {
	case "+", "-", "*", "/", "%", "^", "**", "==", "!=", "<", "<=", ">", ">=", "~", "!~":
		return t.kind == awkOperator
	}
	return false
}

// startsOperand reports whether an operand starts here, joined to the one before
// by nothing.
func (p *awkParser) startsOperand() bool {
	switch p.tok.kind {
	case awkNumber, awkString:
		return true
	case awkName:
		return !awkReserved(p.tok.text) || awkFunctions.has(p.tok.text)
	case awkOperator:
		return p.tok.is("(") || p.tok.is("$")
	}
	return false
}

// operand reads prefix operators, a primary and postfix operators.
func (p *awkParser) operand() awkTarget {
	for p.tok.is("!") || p.tok.is("-") || p.tok.is("+") {
		p.advance()
	}
	if p.tok.is("++") || p.tok.is("--") {
		op := p.tok.text
		p.advance()
		p.assign(p.primary(), op)
		return awkTarget{}
	}
	target := p.primary()
	if target.kind == awkValue || !p.tok.is("++") && !p.tok.is("--") {
		return target
	}
	p.assign(target, p.tok.text)
	p.advance()
	if p.startsOperand() || p.tok.is("/") || p.tok.is("/=") {
		p.fail("it is not clear to every awk what stands behind ++ or --")
	}
	return awkTarget{}
}

// primary reads what operators work on.
func (p *awkParser) primary() awkTarget {
	if p.tok.is("/") || p.tok.is("/=") {
		t, fault := p.lexer.regex(p.tok.pos)
		if fault != "" {
			p.fail(fault)
			return awkTarget{}
		}
		p.tok = t
	}
	switch {
	case p.tok.kind == awkNumber, p.tok.kind == awkString, p.tok.kind == awkRegex:
		p.advance()
	case p.tok.is("("):
		p.group()
	case p.tok.is("$"):
		return p.field()
	case p.tok.is("getline"):
		p.getline()
		if !p.atEnd() && !p.tok.is(")") {
			p.fail("it uses getline in a way that may read other files")
		}
	case p.tok.kind == awkName:
		return p.named()
	default:
		p.fail("it is not understood before " + p.tok.text)
	}
	return awkTarget{}
}

// field reads $ and what it takes: a primary with prefix operators.
func (p *awkParser) field() awkTarget {
	defer p.nest()()
	p.advance()
	for p.tok.is("!") || p.tok.is("-") || p.tok.is("+") {
		p.advance()
	}
	index := p.tok
	if p.accept("++") || p.accept("--") {
		p.assign(p.primary(), "")
		return awkTarget{kind: awkTheField}
	}
	inner := p.primary()
	switch {
	case inner.kind == awkVariable, index.kind == awkNumber:
		return awkTarget{kind: awkTheField, name: index.text}
	default:
		return awkTarget{kind: awkTheField}
	}
}

// getline reads the form that takes the next record of the main input.
func (p *awkParser) getline() {
	p.advance()
	p.note(awkEvent{kind: awkField})
	if p.tok.is("$") || p.tok.kind == awkName && !awkReserved(p.tok.text) {
		p.assign(p.primary(), "")
	}
}

// named reads a variable, an element of an array, or a call.
func (p *awkParser) named() awkTarget {
	name, call := p.tok.text, p.tok.call
	switch {
	case awkFunctions.has(name):
		p.builtin(name, call)
		return awkTarget{}
	case call == awkPlainCall && !awkReserved(name):
		p.advance()
		p.note(awkEvent{kind: awkInvoke, name: name})
		p.handOver(p.group(), 0)
		return awkTarget{}
	case call != awkNoCall:
		p.fail("it calls " + name + ", which is not on the list of functions that only compute")
		return awkTarget{}
	}
	p.variable()
	if p.tok.is("[") {
		p.subscript(name)
		return awkTarget{kind: awkTheMember, name: name}
	}
	return awkTarget{kind: awkVariable, name: name}
}

// variable reads a name that is no keyword and no function.
func (p *awkParser) variable() string {
	name := p.tok.text
	if p.tok.kind != awkName || awkReserved(name) {
		p.fail("it uses " + name + ", which is not on the list of what only computes")
		return ""
	}
	p.advance()
	return name
}

func (p *awkParser) subscript(name string) {
	index := ""
	p.advance()
	if p.tok.kind == awkName {
		index = p.tok.text
	}
	from := len(p.toks)
	p.parens++ // > in brackets compares, or is an error
	p.list()
	p.parens--
	if len(p.toks) != from+1 {
		index = ""
	}
	p.expect("]")
	p.note(awkEvent{kind: awkElement, name: name, index: index})
}

// builtin reads a call of a function that every awk, or some, has built in.
func (p *awkParser) builtin(name string, call awkCall) {
	p.advance()
	if call == awkNoCall {
		if name != "length" || p.tok.is("/") || p.tok.is("/=") {
			p.fail("it uses " + name + " without arguments")
		}
		return
	}
	args := p.group()
	switch name {
	case "sub", "gsub":
		p.substitution(args)
	case "split", "patsplit", "match":
		p.handOver(args, 1)
	case "asort", "asorti":
		// A third argument may name a function to call.
		if len(args) > 2 {
			p.fail("it sorts by a function")
		}
		p.handOver(args, 0)
	}
}

// substitution notes what sub and gsub change: their third argument, or the
// record.
func (p *awkParser) substitution(args []awkTarget) {
	if len(args) < 3 {
		p.note(awkEvent{kind: awkField, name: "0"})
		return
	}
	p.assign(args[2], "")
}

// handOver notes the arrays that a function may change.
func (p *awkParser) handOver(args []awkTarget, from int) {
	for _, arg := range args[min(from, len(args)):] {
		if arg.kind == awkVariable {
			p.note(awkEvent{kind: awkArray, name: arg.name})
		}
	}
}
