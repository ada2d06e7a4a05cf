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
	for _, name := range assigned {
		if awkNameForm.FindString(name) != name || awkReserved(name) {
			return refused("a variable is set that means something to awk")
		}
	}
	p := &awkParser{lexer: awkLexer{src: program}}
	p.program()
	for _, name := range p.called {
		if !slices.Contains(p.defined, name) {
			p.fail("it calls " + name + ", which is not on the list of functions that only compute")
		}
	}
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

// awkReserved reports whether a name is no plain variable and no function of a
// program's own.
func awkReserved(name string) bool {
	return awkKeywords.has(name) || awkFunctions.has(name) || awkRefused.has(name)
}
