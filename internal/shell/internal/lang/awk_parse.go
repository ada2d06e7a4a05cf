package lang

// awkParser reads a program by the grammar that all awks share. It builds no
// tree: whether anything is written or started shows in the tokens, once it is
// settled which slash starts a regular expression and which > redirects, and those
// the grammar settles.
type awkParser struct {
	lexer awkLexer
	tok   awkToken
	fault string
	depth int
	// parens counts the parentheses around tok in the present statement, and
	// printing says that it prints: outside of them > then redirects.
	parens   int
	printing bool
	// defined are the program's own functions, called those it calls.
	defined, called awkNames
}

// fail ends the parse: from here on the program is at its end.
func (p *awkParser) fail(reason string) {
	if p.fault == "" {
		p.fault = reason
	}
	p.tok = awkToken{kind: awkEnd}
	p.lexer.pos = len(p.lexer.src)
}

func (p *awkParser) advance() {
	t, fault := p.lexer.next()
	if fault != "" {
		p.fail(fault)
		return
	}
	p.tok = t
}

func (p *awkParser) accept(text string) bool {
	if !p.tok.is(text) {
		return false
	}
	p.advance()
	return true
}

func (p *awkParser) expect(text string) {
	if !p.accept(text) {
		p.fail("it is not understood where " + text + " is missing")
	}
}

func (p *awkParser) skipNewlines() {
	for p.tok.kind == awkNewline {
		p.advance()
	}
}

// nest bounds the recursion; what it returns is to be deferred.
func (p *awkParser) nest() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail("it is nested too deep")
	}
	return func() { p.depth-- }
}

func (p *awkParser) program() {
	p.advance()
	for p.tok.kind != awkEnd {
		switch {
		case p.tok.kind == awkNewline, p.tok.is(";"):
			p.advance()
		case p.tok.is("function"), p.tok.is("func"):
			p.function()
		default:
			p.rule()
		}
	}
}

func (p *awkParser) rule() {
	switch {
	case p.tok.is("BEGIN"), p.tok.is("END"):
		p.advance()
		p.block()
		return
	case p.tok.is("{"):
		p.block()
		return
	}
	p.expr()
	if p.accept(",") {
		p.skipNewlines()
		p.expr()
	}
	if p.tok.is("{") {
		p.block()
		return
	}
	p.endStatement()
}

func (p *awkParser) function() {
	p.advance()
	name := p.tok.text
	if p.tok.kind != awkName || awkReserved(name) || p.defined.has(name) {
		p.fail("it defines a function of a name that is taken")
		return
	}
	p.defined = append(p.defined, name)
	p.advance()
	p.expect("(")
	for p.tok.kind == awkName && !awkReserved(p.tok.text) {
		p.advance()
		if !p.accept(",") {
			break
		}
		p.skipNewlines()
	}
	p.expect(")")
	p.skipNewlines()
	p.block()
}

func (p *awkParser) block() {
	p.expect("{")
	for p.tok.kind != awkEnd && !p.tok.is("}") {
		p.statement()
	}
	p.expect("}")
}

// statement reads one statement and what ends it.
func (p *awkParser) statement() {
	defer p.nest()()
	switch {
	case p.tok.kind == awkNewline, p.tok.is(";"):
		p.advance()
	case p.tok.is("{"):
		p.block()
	case p.tok.is("if"):
		p.ifStatement()
	case p.tok.is("while"):
		p.advance()
		p.group()
		p.body()
	case p.tok.is("do"):
		p.doStatement()
	case p.tok.is("for"):
		p.forStatement()
	default:
		p.simple()
		p.endStatement()
	}
}

// endStatement wants the end of a statement. What else may stand there writes or
// starts something.
func (p *awkParser) endStatement() {
	switch {
	case p.tok.kind == awkNewline, p.tok.is(";"):
		p.advance()
	case p.atEnd():
	default:
		p.fail("it is not understood before " + p.tok.text)
	}
}

// body reads the statement that a loop or a condition holds.
func (p *awkParser) body() {
	p.skipNewlines()
	p.statement()
}

func (p *awkParser) ifStatement() {
	p.advance()
	p.group()
	p.body()
	for p.tok.kind == awkNewline || p.tok.is(";") {
		p.advance()
	}
	if p.accept("else") {
		p.body()
	}
}

func (p *awkParser) doStatement() {
	p.advance()
	p.body()
	for p.tok.kind == awkNewline || p.tok.is(";") {
		p.advance()
	}
	p.expect("while")
	p.group()
	p.endStatement()
}

// forStatement reads a for loop, of either sort.
func (p *awkParser) forStatement() {
	p.advance()
	p.expect("(")
	if !p.tok.is(";") {
		p.expr()
	}
	if p.accept(";") {
		p.forPart(";")
		p.expect(";")
		p.forPart(")")
	}
	p.expect(")")
	p.body()
}

// forPart reads an expression that a for loop may lack.
func (p *awkParser) forPart(end string) {
	p.skipNewlines()
	if !p.tok.is(end) {
		p.expr()
	}
}

func (p *awkParser) simple() {
	switch p.tok.text {
	case "next", "break", "continue", "nextfile":
		p.advance()
	case "exit", "return":
		p.advance()
		if !p.atEnd() {
			p.expr()
		}
	case "delete":
		p.deletion()
	case "print", "printf":
		p.print()
	default:
		p.expr()
	}
}

// print reads what is printed, and where to if that is no file.
func (p *awkParser) print() {
	p.advance()
	p.printing = true
	if !p.atEnd() && !p.tok.is(">") {
		p.list()
	}
	p.printing = false
	if !p.accept(">") {
		return
	}
	switch p.tok.text {
	case `"/dev/stdout"`, `"/dev/stderr"`, `"/dev/null"`:
		p.advance()
	default:
		p.fail("it redirects output, or compares by > outside of parentheses")
	}
}

// atEnd reports whether a statement may end here.
func (p *awkParser) atEnd() bool {
	return p.tok.kind == awkNewline || p.tok.kind == awkEnd || p.tok.is(";") || p.tok.is("}")
}

func (p *awkParser) deletion() {
	p.advance()
	p.variable()
	p.subscript()
}

// list reads expressions with commas between, and returns how many.
func (p *awkParser) list() int {
	p.expr()
	n := 1
	for ; p.accept(","); n++ {
		p.skipNewlines()
		p.expr()
	}
	return n
}

// group reads a list in parentheses, and returns how long it is. The list may be
// empty behind a function.
func (p *awkParser) group() (n int) {
	defer p.nest()()
	p.expect("(")
	p.parens++
	if !p.tok.is(")") {
		n = p.list()
	}
	p.parens--
	p.expect(")")
	return n
}
