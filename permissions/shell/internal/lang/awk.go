package lang

import "slices"

// Awk judges a program for awk: the text of its first operand, or of -e. It must
// be read-only to every awk there is (gawk, mawk, busybox, the original), which
// differ in what they have built in and in where a regular expression ends.
//
// Names in assigned are variables set on the command line: by -v, or by operands
// of the form name=value, which are no files. Every further operand is a file
// that is read; the caller lists it. -f, -i, -l, -E and their like take code from
// files and never come here. Programs that look at the environment (ENVIRON) or
// choose their own files (ARGV) are not read-only.
func Awk(program string, assigned ...string) Finding {
	if fault := guard(program); fault != "" {
		return refused(fault)
	}
	p := &awkParser{
		lexer:    awkLexer{src: program},
		funcs:    map[string]*awkFunc{},
		assigned: map[string]bool{},
	}
	for _, name := range assigned {
		if awkNameForm.FindString(name) != name || awkReserved(name) || awkSpecial.has(name) && !awkSettable.has(name) {
			return refused("a variable is set that means something to awk")
		}
		p.assigned[name] = true
	}
	p.program()
	p.checkEnd()
	if p.fault != "" {
		return refused(p.fault)
	}
	return Finding{ReadOnly: true}
}

// awkNames is a list of names. Lists are short enough to be searched, and need nothing
// done before the first program is judged.
type awkNames []string

func (n awkNames) has(name string) bool { return slices.Contains(n, name) }

// awkFunctions are the functions that some awk has built in and that only
// compute. An awk without one of them does not start.
var awkFunctions = awkNames{
	"length", "substr", "index", "split", "sub", "gsub", "match", "sprintf",
	"tolower", "toupper", "sin", "cos", "atan2", "exp", "log", "sqrt", "int", "rand", "srand",
	"gensub", "patsplit", "strftime", "systime", "mktime", "strtonum", "asort", "asorti",
	"and", "or", "xor", "compl", "lshift", "rshift", "isarray", "typeof",
}

// awkRefused are names that are not to be seen in a program at all. The
// original awk takes some functions without parentheses: a bare system runs $0.
var awkRefused = awkNames{
	"system", "close", "fflush", "extension", "stopme", "adump", "bindtextdomain", "dcgettext",
	"dcngettext", "mkbool", "intdiv", "intdiv0", "chdir", "fork", "exec",
	"ENVIRON", "ARGV", "ARGC", "ARGIND", "SYMTAB", "FUNCTAB", "PROCINFO", "BINMODE", "LINT",
	"TEXTDOMAIN", "PREC", "ROUNDMODE", "INPLACE_SUFFIX",
}

var awkKeywords = awkNames{
	"BEGIN", "END", "BEGINFILE", "ENDFILE", "function", "func", "if", "else", "while", "for", "do",
	"in", "next", "nextfile", "exit", "return", "break", "continue", "delete", "print", "printf",
	"getline", "switch", "case", "default", "include", "load", "namespace",
}

// awkSpecial are variables that awk itself looks at or sets.
var awkSpecial = awkNames{
	"NF", "NR", "FNR", "FS", "OFS", "RS", "ORS", "RT", "FILENAME", "SUBSEP", "RSTART", "RLENGTH",
	"CONVFMT", "OFMT", "FIELDWIDTHS", "FPAT", "IGNORECASE", "ERRNO",
}

// awkSettable are those of them that the command line may set to anything.
var awkSettable = awkNames{"FS", "OFS", "ORS", "SUBSEP", "CONVFMT", "OFMT"}

// awkReserved reports whether a name is no plain variable and no function of a
// program's own.
func awkReserved(name string) bool {
	return awkKeywords.has(name) || awkFunctions.has(name) || awkRefused.has(name)
}

// checkEnd looks at what only the whole program tells: that every function
// called is there and none calls itself, and that every loop ends.
func (p *awkParser) checkEnd() {
	if p.fault != "" {
		return
	}
	p.checkCalls()
	for _, e := range p.events {
		if e.kind == awkAssign && e.name == "RS" && !p.safeSeparator(e) {
			p.fail("it sets RS to what may match the empty string")
		}
	}
	for _, loop := range p.loops {
		if !p.ends(loop) {
			p.fail("it has a for loop that may not end")
		}
	}
	for _, loop := range p.forIns {
		if !p.endsIn(loop) {
			p.fail("it has a for loop that may add to the array it goes through")
		}
	}
}

func (p *awkParser) checkCalls() {
	calls := map[string][]string{}
	for _, e := range p.events {
		if e.kind != awkInvoke {
			continue
		}
		if p.funcs[e.name] == nil {
			p.fail("it calls " + e.name + ", which is not on the list of functions that only compute")
			return
		}
		if e.inside != nil {
			calls[e.inside.name] = append(calls[e.inside.name], e.name)
		}
	}
	done := map[string]bool{}
	for name := range calls {
		if awkRecurses(calls, done, nil, name) {
			p.fail("a function calls itself")
			return
		}
	}
}

func awkRecurses(calls map[string][]string, done map[string]bool, path []string, name string) bool {
	if done[name] {
		return false
	}
	if slices.Contains(path, name) || len(path) > maxDepth {
		return true
	}
	path = append(path, name)
	for _, callee := range calls[name] {
		if awkRecurses(calls, done, path, callee) {
			return true
		}
	}
	done[name] = true
	return false
}

// safeSeparator reports whether an assignment to RS gives it a constant that
// cannot match the empty string: some awks would read empty records for ever.
func (p *awkParser) safeSeparator(e awkEvent) bool {
	constant := p.token(e.tok + 1)
	if e.op != "=" || constant.kind != awkString || !awkEnds(p.token(e.tok+2)) {
		return false
	}
	return len(constant.text) <= len(`"x"`) || neverEmpty(awkPattern(constant.text))
}

// token returns a token of the program by its place.
func (p *awkParser) token(at int) awkToken {
	if at < len(p.toks) {
		return p.toks[at]
	}
	return awkToken{}
}

// awkEnds reports whether a statement ends at the token.
func awkEnds(t awkToken) bool {
	return t.kind == awkNewline || t.kind == awkEnd || t.is(";") || t.is("}")
}

// awkPattern returns the regular expression that a string constant says, or
// nothing where awks differ on it.
func awkPattern(constant string) string {
	var pattern []byte
	text := constant[1 : len(constant)-1]
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' {
			i++
			switch text[i] {
			case '\\':
			case 'n', 't', '"', '/':
				c = '_' // one character, whichever
			default:
				return ""
			}
		}
		pattern = append(pattern, c)
	}
	return string(pattern)
}
