package lang

// awkParser reads a program by the grammar that all awks share, and notes what
// the question of its end depends on. It builds no tree: whether anything is
// written or started shows in the tokens, once it is settled which slash starts
// a regular expression and which > redirects, and those the grammar settles.
type awkParser struct {
	lexer awkLexer
	tok   awkToken
	// toks are the tokens before tok.
	toks  []awkToken
	fault string
	depth int
	// parens counts the parentheses around tok in the present statement, and
	// printing says that it prints: outside of them > then redirects.
	parens   int
	printing bool

	events []awkEvent
	loops  []awkLoop
	forIns []awkForIn
	funcs  map[string]*awkFunc
	inside *awkFunc
	// assigned are the variables set on the command line.
	assigned map[string]bool
}

// awkFunc is a function of the program.
type awkFunc struct {
	name   string
	params map[string]bool
	// from and to are the events of its body.
	from, to int
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
	p.toks = append(p.toks, p.tok)
	p.read()
}

func (p *awkParser) read() {
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
	p.require(text, "it is not understood where "+text+" is missing")
}

func (p *awkParser) require(text, reason string) {
	if !p.accept(text) {
		p.fail(reason)
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
	p.read()
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
	f := &awkFunc{name: p.tok.text, params: map[string]bool{}, from: len(p.events)}
	if p.tok.kind != awkName || awkReserved(f.name) || p.funcs[f.name] != nil {
		p.fail("it defines a function of a name that is taken")
		return
	}
	p.advance()
	p.expect("(")
	for p.tok.kind == awkName && !awkReserved(p.tok.text) {
		f.params[p.tok.text] = true
		p.advance()
		if !p.accept(",") {
			break
		}
		p.skipNewlines()
	}
	p.expect(")")
	p.skipNewlines()
	p.funcs[f.name] = f
	p.inside = f
	p.block()
	p.inside = nil
	f.to = len(p.events)
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
		p.whileStatement()
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

// whileStatement reads the one while loop that surely ends: a read of the next
// record for each turn. Other conditions may hold for ever, and so may one that
// does not tell a failed read (-1) from one that succeeded.
func (p *awkParser) whileStatement() {
	const reason = "it has a while loop, which may not end"
	p.advance()
	p.require("(", reason)
	p.require("(", reason)
	if !p.tok.is("getline") {
		p.fail(reason)
		return
	}
	p.getline()
	p.require(")", reason)
	p.require(">", reason)
	if p.tok.text != "0" {
		p.fail(reason)
		return
	}
	p.advance()
	p.require(")", reason)
	p.body()
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
func (p *awkParser) atEnd() bool { return awkEnds(p.tok) }

func (p *awkParser) deletion() {
	p.advance()
	name := p.variable()
	if p.tok.is("[") {
		p.subscript(name)
		return
	}
	p.note(awkEvent{kind: awkArray, name: name})
}

// list reads expressions with commas between, and returns what they are if they
// can be assigned to.
func (p *awkParser) list() []awkTarget {
	targets := []awkTarget{p.expr()}
	for p.accept(",") {
		p.skipNewlines()
		targets = append(targets, p.expr())
	}
	return targets
}

// group reads a list in parentheses. The list may be empty behind a function.
func (p *awkParser) group() []awkTarget {
	defer p.nest()()
	p.expect("(")
	p.parens++
	var targets []awkTarget
	if !p.tok.is(")") {
		targets = p.list()
	}
	p.parens--
	p.expect(")")
	return targets
}
