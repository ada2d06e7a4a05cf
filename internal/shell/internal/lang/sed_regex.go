package lang

import (
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// patternBracket is a bracket expression that means the same to every sed: without
// brackets in it but classes, and without the tricks of their order.
var patternBracket = lazyregexp.New(`^\[\^?(?:\[:[a-z]+:\]|\\[^\n\[\]]|[^]\[\\\n])+\]`)

// sedDelimiters may stand around the parts of s and y, and around addresses
// behind a backslash. They mean nothing in any regular expression that they
// would not mean with a backslash before them, or are not used so.
const sedDelimiters = "/|,#@!%:~_;="

// addresses reads none, one or two addresses and !. It reports whether there
// were any.
func (p *sedParser) addresses() bool {
	if !p.address("") {
		if p.peek() == '!' {
			p.fail("it is not understood where an address is missing")
		}
		return false
	}
	p.skip(" \t")
	if p.peek() == ',' {
		p.rest = p.rest[1:]
		p.skip(" \t")
		if !p.address("+~") {
			p.fail("it is not understood where an address is missing")
		}
		p.skip(" \t")
	}
	if p.peek() == '!' {
		p.rest = p.rest[1:]
		p.skip(" \t")
	}
	return true
}

// address reads one address. Before a number there may be one of the signs.
func (p *sedParser) address(signs string) bool {
	switch c := p.peek(); {
	case c == '$':
		p.rest = p.rest[1:]
	case c == '/':
		p.rest = p.rest[1:]
		p.pattern('/')
		p.take("IM")
	case c == '\\':
		p.rest = p.rest[1:]
		if delimiter, ok := p.delimiter(); ok {
			p.pattern(delimiter)
			p.take("IM")
		}
	case c != 0 && strings.IndexByte(signs, c) >= 0:
		p.rest = p.rest[1:]
		if p.take(sedDigits) == "" {
			p.fail("it is not understood where a number is missing")
		}
	case c >= '0' && c <= '9':
		p.take(sedDigits)
		p.step()
	default:
		return false
	}
	return true
}

// step reads ~ and the step of first~step.
func (p *sedParser) step() {
	if p.peek() == '~' {
		p.rest = p.rest[1:]
		p.take(sedDigits)
	}
}

func (p *sedParser) delimiter() (byte, bool) {
	c := p.peek()
	if c == 0 || strings.IndexByte(sedDelimiters, c) < 0 {
		p.fail("a delimiter is not on the list")
		return 0, false
	}
	p.rest = p.rest[1:]
	return c, true
}

// pattern reads a regular expression up to its delimiter. Some seds take a
// delimiter within brackets for the end and some do not, so there is to be none.
func (p *sedParser) pattern(delimiter byte) {
	text, ok := p.upTo(delimiter)
	if !ok || strings.Contains(text, "\n") || !bracketsClose(text) {
		p.fail("where a regular expression ends is not the same to every sed")
	}
}

// upTo reads up to a delimiter that has no backslash before it.
func (p *sedParser) upTo(delimiter byte) (string, bool) {
	for i := 0; i < len(p.rest); i++ {
		switch p.rest[i] {
		case delimiter:
			text := p.rest[:i]
			p.rest = p.rest[i+1:]
			return text, true
		case '\\':
			i++
		}
	}
	p.rest = ""
	return "", false
}

// bracketsClose reports whether every bracket expression is closed, and
// simple enough that all seds agree where.
func bracketsClose(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if i++; i < len(pattern) && pattern[i] == 'c' {
				return false // a control character, of whatever comes next
			}
		case '[':
			bracket := patternBracket.FindString(pattern[i:])
			if bracket == "" {
				return false
			}
			i += len(bracket) - 1
		}
	}
	return true
}

func (p *sedParser) substitution() {
	delimiter, ok := p.delimiter()
	if !ok {
		return
	}
	p.pattern(delimiter)
	replacement, ok := p.upTo(delimiter)
	if !ok || loneNewline(replacement) {
		p.fail("s is not closed")
		return
	}
	p.take(sedDigits + "gpiImM")
	switch p.peek() {
	case 'w':
		p.rest = p.rest[1:]
		p.write()
	case 'e':
		p.fail("it runs a program (s///e)")
	default:
		p.endCommand()
	}
}

// loneNewline reports whether there is a newline without a backslash before it.
func loneNewline(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			return true
		case '\\':
			i++
		}
	}
	return false
}

func (p *sedParser) transliteration() {
	delimiter, ok := p.delimiter()
	if !ok {
		return
	}
	from, ok := p.upTo(delimiter)
	to, ok2 := p.upTo(delimiter)
	if !ok || !ok2 || strings.Contains(from+to, "\n") {
		p.fail("y is not closed")
		return
	}
	p.endCommand()
}
