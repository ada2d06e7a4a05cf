package glob

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// parser turns a pattern without braces into segments.
type parser struct {
	text    string
	pos     int
	out     pattern
	toks    []token
	literal []byte
	// ended says that the pattern ended with a deep segment.
	ended bool
}

func parse(text string) (pattern, error) {
	p := &parser{text: text}
	for p.pos < len(p.text) {
		if err := p.next(); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", text, err)
		}
	}
	if !p.ended {
		p.endSegment()
	}
	return p.out, nil
}

func (p *parser) next() error {
	switch c := p.text[p.pos]; c {
	case '/':
		p.endSegment()
		p.pos++
	case '*':
		p.stars()
	case '?':
		p.add(token{op: opAny})
		p.pos++
	case '[':
		return p.class()
	case '\\':
		if p.pos+1 == len(p.text) {
			return errorf("a backslash at the end stands before nothing")
		}
		p.pos++
		if p.text[p.pos] != '/' {
			p.literal = append(p.literal, p.text[p.pos])
			p.pos++
		}
	default:
		p.literal = append(p.literal, c)
		p.pos++
	}
	return nil
}

// stars reads a run of stars, which is one star, or all of a component and then
// deep.
func (p *parser) stars() {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] == '*' {
		p.pos++
	}
	opens := len(p.toks) == 0 && len(p.literal) == 0
	closes := p.pos == len(p.text) || p.text[p.pos] == '/'
	if p.pos-start < 2 || !opens || !closes {
		p.add(token{op: opStar})
		return
	}
	if n := len(p.out); n == 0 || !p.out[n-1].deep {
		p.out = append(p.out, segment{deep: true})
	}
	p.ended = p.pos == len(p.text)
	p.pos = min(p.pos+1, len(p.text)) // past the slash
}

func (p *parser) flush() {
	if len(p.literal) > 0 {
		p.toks = append(p.toks, token{op: opLiteral, text: string(p.literal)})
		p.literal = p.literal[:0]
	}
}

func (p *parser) add(t token) {
	p.flush()
	p.toks = append(p.toks, t)
}

func (p *parser) endSegment() {
	p.flush()
	p.out = append(p.out, segment{toks: p.toks})
	p.toks = nil
}

// class reads a bracket expression; a "]" that comes first is a member.
func (p *parser) class() error {
	start := p.pos
	p.pos++
	c := &class{}
	if p.pos < len(p.text) && (p.text[p.pos] == '!' || p.text[p.pos] == '^') {
		c.negated = true
		p.pos++
	}
	for first := true; ; first = false {
		switch {
		case p.pos >= len(p.text):
			return errorf("the [ at byte %d is not closed", start)
		case p.text[p.pos] == ']' && !first:
			p.pos++
			p.add(token{op: opClass, class: c})
			return nil
		}
		if err := p.member(c); err != nil {
			return err
		}
	}
}

// member reads one code point, range or named class.
func (p *parser) member(c *class) error {
	if rest := p.text[p.pos:]; strings.HasPrefix(rest, "[:") {
		if n := strings.Index(rest, ":]"); n >= 0 {
			f, ok := named[rest[2:n]]
			if !ok {
				return errorf("there is no class %s", rest[:n+2])
			}
			c.named = append(c.named, f)
			p.pos += n + 2
			return nil
		}
	}
	lo, err := p.classRune()
	if err != nil {
		return err
	}
	hi := lo
	if rest := p.text[p.pos:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
		p.pos++
		if hi, err = p.classRune(); err != nil {
			return err
		}
	}
	c.ranges = append(c.ranges, runeRange{lo, hi})
	return nil
}

func (p *parser) classRune() (rune, error) {
	if p.text[p.pos] == '\\' {
		p.pos++
		if p.pos == len(p.text) {
			return 0, errorf("a backslash at the end stands before nothing")
		}
	}
	r, n := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += n
	return r, nil
}

// The POSIX classes, for ASCII as in git.
var named = map[string]func(rune) bool{
	"alnum":  func(r rune) bool { return isAlpha(r) || isDigit(r) },
	"alpha":  isAlpha,
	"blank":  func(r rune) bool { return r == ' ' || r == '\t' },
	"cntrl":  func(r rune) bool { return r < ' ' || r == 0x7f },
	"digit":  isDigit,
	"graph":  func(r rune) bool { return r > ' ' && r < 0x7f },
	"lower":  func(r rune) bool { return r >= 'a' && r <= 'z' },
	"print":  func(r rune) bool { return r >= ' ' && r < 0x7f },
	"punct":  func(r rune) bool { return r > ' ' && r < 0x7f && !isAlpha(r) && !isDigit(r) },
	"space":  func(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' },
	"upper":  func(r rune) bool { return r >= 'A' && r <= 'Z' },
	"xdigit": func(r rune) bool { return isDigit(r) || r|0x20 >= 'a' && r|0x20 <= 'f' },
}

func isAlpha(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }
func isDigit(r rune) bool { return r >= '0' && r <= '9' }
