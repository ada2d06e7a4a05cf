package lang

// expr reads an expression: operands with operators, or nothing, between. Which
// binds tighter does not matter here.
func (p *awkParser) expr() {
	defer p.nest()()
	assignable := p.operand()
	for {
		switch {
		case awkAssigns(p.tok):
			p.assign(assignable)
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
			assignable = false
			continue
		case p.tok.is(">") && p.parens == 0 && p.printing:
			return
		case awkJoins(p.tok):
			p.advance()
		case !p.startsOperand():
			return
		}
		assignable = p.operand()
	}
}

func (p *awkParser) assign(assignable bool) {
	if !assignable {
		p.fail("it assigns to what is not a variable")
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

// operand reads prefix operators, a primary and postfix operators. It reports
// whether it can be assigned to.
func (p *awkParser) operand() bool {
	for p.tok.is("!") || p.tok.is("-") || p.tok.is("+") {
		p.advance()
	}
	if p.accept("++") || p.accept("--") {
		p.assign(p.primary())
		return false
	}
	assignable := p.primary()
	if !assignable || !p.accept("++") && !p.accept("--") {
		return assignable
	}
	if p.startsOperand() || p.tok.is("/") || p.tok.is("/=") {
		p.fail("it is not clear to every awk what stands behind ++ or --")
	}
	return false
}

// primary reads what operators work on, and reports whether it can be assigned to.
func (p *awkParser) primary() bool {
	if p.tok.is("/") || p.tok.is("/=") {
		t, fault := p.lexer.regex(p.tok.pos)
		if fault != "" {
			p.fail(fault)
			return false
		}
		p.tok = t
	}
	switch {
	case p.tok.kind == awkNumber, p.tok.kind == awkString, p.tok.kind == awkRegex:
		p.advance()
	case p.tok.is("("):
		p.group()
	case p.tok.is("$"):
		p.field()
		return true
	case p.tok.is("getline"):
		p.getline()
	case p.tok.kind == awkName:
		return p.named()
	default:
		p.fail("it is not understood before " + p.tok.text)
	}
	return false
}

// field reads $ and what it takes: a primary with prefix operators.
func (p *awkParser) field() {
	defer p.nest()()
	p.advance()
	for p.tok.is("!") || p.tok.is("-") || p.tok.is("+") {
		p.advance()
	}
	if p.accept("++") || p.accept("--") {
		p.assign(p.primary())
		return
	}
	p.primary()
}

// getline reads the form that takes the next record of the main input.
func (p *awkParser) getline() {
	p.advance()
	if p.tok.is("$") || p.tok.kind == awkName && !awkReserved(p.tok.text) {
		p.assign(p.primary())
	}
	if !p.atEnd() && !p.tok.is(")") {
		p.fail("it uses getline in a way that may read other files")
	}
}

// named reads a variable, an element of an array, or a call. It reports whether
// that can be assigned to.
func (p *awkParser) named() bool {
	name, call := p.tok.text, p.tok.call
	switch {
	case awkFunctions.has(name):
		p.builtin(name, call)
		return false
	case call == awkPlainCall && !awkReserved(name):
		p.advance()
		p.called = append(p.called, name)
		p.group()
		return false
	case call != awkNoCall:
		p.fail("it calls " + name + ", which is not on the list of functions that only compute")
		return false
	}
	p.variable()
	p.subscript()
	return true
}

// variable reads a name that is no keyword and no function.
func (p *awkParser) variable() {
	if name := p.tok.text; p.tok.kind != awkName || awkReserved(name) {
		p.fail("it uses " + name + ", which is not on the list of what only computes")
		return
	}
	p.advance()
}

// subscript reads an index in brackets, if there is one.
func (p *awkParser) subscript() {
	if !p.accept("[") {
		return
	}
	p.parens++ // > in brackets compares, or is an error
	p.list()
	p.parens--
	p.expect("]")
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
	// A third argument may name a function to call.
	if args := p.group(); args > 2 && (name == "asort" || name == "asorti") {
		p.fail("it sorts by a function")
	}
}
