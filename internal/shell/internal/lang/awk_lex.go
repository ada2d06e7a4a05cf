package lang

import (
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// awkKind is the kind of a token.
type awkKind byte

const (
	awkEnd awkKind = iota
	awkNewline
	awkName
	awkNumber
	awkString
	awkRegex
	awkOperator
)

// awkToken is one token. Text is its source; of a name that a parenthesis
// follows, call says how.
type awkToken struct {
	kind awkKind
	text string
	pos  int
	call awkCall
}

// awkCall says whether a parenthesis follows a name. User functions are called
// without a blank between; with one it is a call to some awks and not to others.
type awkCall byte

const (
	awkNoCall awkCall = iota
	awkSpacedCall
	awkPlainCall
)

func (t awkToken) is(text string) bool {
	return t.text == text && (t.kind == awkOperator || t.kind == awkName)
}

// awkOperators is everything the grammar knows, longest first. A lone | is not
// among them, nor @, \ or >>: no program that only reads has them.
var awkOperators = []string{
	"**=",
	"**", "^=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "!~",
	"{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", "<", ">", "?", ":", "~", "$", "=",
}

var (
	awkNameForm   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*`)
	awkNumberForm = lazyregexp.New(`^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?`)
	// awkRegexForm is a regular expression that every awk ends at the same
	// slash. Some awks take a slash in brackets for the end and some do not, and
	// they differ about brackets within brackets, so brackets hold only classes,
	// escapes and characters that mean nothing elsewhere.
	awkRegexForm = lazyregexp.New(`^/(?:[^/\\\[\n]|\\[^\n]|\[\^?(?:\[:[a-z]+:\]|\\[^\n\[\]]|[^]\[\\/\n])+\])*/`)
	awkQuoteForm = lazyregexp.New(`^"(?:[^"\\\n]|\\[^\n])*"`)
)

// awkLexer cuts a program into tokens. It refuses what awks cut differently.
type awkLexer struct {
	src string
	pos int
}

// next returns the next token as it is where an operator may stand: there a
// slash divides. The second result is empty or says why there is none.
func (l *awkLexer) next() (awkToken, string) {
	if fault := l.skipBlanks(); fault != "" {
		return awkToken{}, fault
	}
	rest := l.src[l.pos:]
	if rest == "" {
		return awkToken{pos: l.pos}, ""
	}
	switch c := rest[0]; {
	case c == '\n':
		return l.token(awkNewline, 1), ""
	case c == '"':
		if text := awkQuoteForm.FindString(rest); text != "" {
			return l.token(awkString, len(text)), ""
		}
		return awkToken{}, "a string is not closed on its line"
	case awkNameForm.MatchString(rest):
		return l.name(awkNameForm.FindString(rest)), ""
	case awkNumberForm.MatchString(rest):
		return l.number(awkNumberForm.FindString(rest))
	}
	return l.operator(rest)
}

func (l *awkLexer) name(text string) awkToken {
	t := l.token(awkName, len(text))
	at := l.pos
	for at < len(l.src) && strings.IndexByte(" \t\\\n", l.src[at]) >= 0 {
		at++
	}
	switch {
	case at == len(l.src) || l.src[at] != '(':
	case at == l.pos:
		t.call = awkPlainCall
	default:
		t.call = awkSpacedCall // over a newline it is none, and refused all the same
	}
	return t
}

// number refuses what some awks read as one number (0x10) and others as a
// number and a name.
func (l *awkLexer) number(text string) (awkToken, string) {
	t := l.token(awkNumber, len(text))
	if rest := l.src[l.pos:]; rest != "" && (rest[0] == '.' || awkNameForm.MatchString(rest)) {
		return t, "a number is followed by a letter"
	}
	return t, ""
}

func (l *awkLexer) operator(rest string) (awkToken, string) {
	switch {
	case strings.HasPrefix(rest, ">>"):
		return awkToken{}, "it redirects output"
	case rest[0] == '|' && !strings.HasPrefix(rest, "||"):
		return awkToken{}, "it uses a pipe to or from a command"
	}
	for _, op := range awkOperators {
		if strings.HasPrefix(rest, op) {
			return l.token(awkOperator, len(op)), ""
		}
	}
	return awkToken{}, "it holds a character that awk programs rarely hold"
}

// regex reads the regular expression that starts at a slash.
func (l *awkLexer) regex(at int) (awkToken, string) {
	text := awkRegexForm.FindString(l.src[at:])
	if text == "" {
		return awkToken{}, "where a regular expression ends is not the same to every awk"
	}
	l.pos = at
	return l.token(awkRegex, len(text)), ""
}

func (l *awkLexer) token(kind awkKind, length int) awkToken {
	t := awkToken{kind: kind, text: l.src[l.pos : l.pos+length], pos: l.pos}
	l.pos += length
	return t
}

// skipBlanks goes over blanks, continued lines and comments. A comment that ends
// in a backslash goes on in the next line for some awks.
func (l *awkLexer) skipBlanks() string {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t':
			l.pos++
		case strings.HasPrefix(rest, "\\\n"):
			l.pos += 2
		case rest[0] == '#':
			comment, _, _ := strings.Cut(rest, "\n")
			if strings.HasSuffix(comment, `\`) {
				return "a comment ends in a backslash"
			}
			l.pos += len(comment)
		default:
			return ""
		}
	}
	return ""
}
