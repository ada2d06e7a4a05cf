package lang

import (
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// patternBracket is a bracket expression that means the same to every engine:
// without brackets in it but classes, and without the tricks of their order.
var patternBracket = lazyregexp.New(`^\[\^?(?:\[:[a-z]+:\]|\\[^\n\[\]]|[^]\[\\\n])+\]`)

// patternGroup is what may stand behind the parenthesis of a group, and makes it
// no assertion.
var patternGroup = lazyregexp.New(`^\?(?::|<[A-Za-z_][A-Za-z0-9_]*>)`)

// neverEmpty reports whether a regular expression surely matches no empty
// string, to every engine that may read it (POSIX extended, Oniguruma). Tools
// that go on behind a match may not get on behind an empty one. What is not
// simple is taken to match the empty string.
func neverEmpty(pattern string) bool {
	p := patternReader{rest: pattern}
	consumes := p.alternatives(0)
	return consumes && p.rest == "" && !p.failed
}

type patternReader struct {
	rest   string
	failed bool
}

// alternatives reads up to the end or a closing parenthesis, and reports whether
// each alternative takes at least one character.
func (p *patternReader) alternatives(depth int) bool {
	if depth > maxDepth {
		p.failed = true
		return false
	}
	all, one := true, false
	for p.rest != "" && !p.failed {
		switch p.rest[0] {
		case ')':
			return all && one
		case '|':
			p.rest = p.rest[1:]
			all, one = all && one, false
		default:
			one = p.repeated(depth) || one
		}
	}
	return all && one
}

// repeated reads an atom and its quantifier.
func (p *patternReader) repeated(depth int) bool {
	consumes := p.atom(depth)
	if p.rest == "" || strings.IndexByte("*+?", p.rest[0]) < 0 {
		return consumes
	}
	optional := p.rest[0] != '+'
	p.rest = p.rest[1:]
	if p.rest != "" && strings.IndexByte("*+?", p.rest[0]) >= 0 {
		p.failed = true // to some a repetition repeated, to others a lazy one
	}
	return consumes && !optional
}

// atom reads one character, class, anchor or group.
func (p *patternReader) atom(depth int) bool {
	c := p.rest[0]
	switch c {
	case '[':
		text := patternBracket.FindString(p.rest)
		p.failed = p.failed || text == ""
		p.rest = p.rest[len(text):]
		return true
	case '\\':
		if len(p.rest) < 2 || strings.IndexByte(`.*+?()[]{}|/^$\-"sSdDwWnt`, p.rest[1]) < 0 {
			p.failed = true
			return false
		}
		p.rest = p.rest[2:]
		return true
	case '(':
		p.rest = p.rest[1:]
		p.rest = p.rest[len(patternGroup.FindString(p.rest)):]
		consumes := p.alternatives(depth + 1)
		if !strings.HasPrefix(p.rest, ")") {
			p.failed = true
			return false
		}
		p.rest = p.rest[1:]
		return consumes
	case '{', '}', '*', '+', '?':
		p.failed = true
		return false
	}
	p.rest = p.rest[1:]
	return c != '^' && c != '$'
}
