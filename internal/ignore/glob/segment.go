package glob

import (
	"strings"
	"unicode/utf8"
)

// segment matches one path component.
type segment struct {
	// deep is "**": any number of components.
	deep bool
	toks []token
}

type op uint8

const (
	opLiteral op = iota // text
	opAny               // one code point
	opStar              // any text
	opClass             // one code point of a class
)

type token struct {
	op    op
	text  string
	class *class
}

// match compares a component greedily: a mismatch makes the last star take one
// code point more.
func (s *segment) match(name string) bool {
	tok, pos := 0, 0
	backTok, backPos := -1, 0
	for tok < len(s.toks) || pos < len(name) {
		if tok < len(s.toks) {
			t := &s.toks[tok]
			if t.op == opStar {
				if tok == len(s.toks)-1 {
					return true
				}
				backTok, backPos = tok, pos
				tok++
				continue
			}
			if n := t.width(name[pos:]); n >= 0 {
				tok++
				pos += n
				continue
			}
		}
		if backTok < 0 || backPos >= len(name) {
			return false
		}
		_, n := utf8.DecodeRuneInString(name[backPos:])
		backPos += n
		tok, pos = backTok+1, backPos
	}
	return true
}

// width returns how many bytes at the start of s the token matches, or -1.
func (t *token) width(s string) int {
	if t.op == opLiteral {
		if strings.HasPrefix(s, t.text) {
			return len(t.text)
		}
		return -1
	}
	if s == "" {
		return -1
	}
	r, n := utf8.DecodeRuneInString(s)
	if t.op == opClass && !t.class.match(r) {
		return -1
	}
	return n
}

// class is a bracket expression.
type class struct {
	negated bool
	ranges  []runeRange
	named   []func(rune) bool
}

type runeRange struct{ lo, hi rune }

func (c *class) match(r rune) bool {
	return c.has(r) != c.negated
}

func (c *class) has(r rune) bool {
	for _, x := range c.ranges {
		if x.lo <= r && r <= x.hi {
			return true
		}
	}
	for _, f := range c.named {
		if f(r) {
			return true
		}
	}
	return false
}
