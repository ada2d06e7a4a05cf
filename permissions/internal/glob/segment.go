// Package glob matches the components of paths against the segments of gitignore patterns.
package glob

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Segment is one component of a path pattern: a literal name, a glob, or deep.
type Segment struct {
	// Deep makes it match any number of components, none included.
	Deep bool
	Text string // the literal name, if there are no ops
	ops  []element
	// suffix is x where the glob is *x, the commonest kind.
	suffix string
}

// AnyDepth is "**": any number of components.
var AnyDepth = Segment{Deep: true}

// Star is "*": any one component.
var Star = Segment{ops: []element{{kind: opStar}}}

// Literal reports whether the segment is a name.
func (s *Segment) Literal() bool { return !s.Deep && s.ops == nil }

type opKind uint8

const (
	opRune  opKind = iota
	opAny          // ?
	opStar         // *
	opClass        // [...]
)

type element struct {
	kind    opKind
	r       rune
	negated bool
	ranges  []runeRange
}

type runeRange struct{ lo, hi rune }

// invalidByte stands for a byte of a name that is not UTF-8. Only wildcards
// match it.
const invalidByte rune = -1

// Parse reads one component of a pattern, without slashes.
func Parse(text string) (Segment, error) {
	if text == "**" {
		return AnyDepth, nil
	}
	if !strings.ContainsAny(text, `*?[\`) && utf8.ValidString(text) {
		return Segment{Text: text}, nil // most are names
	}
	var ops []element
	var literal strings.Builder
	wild := 0
	for text != "" {
		op, rest, err := parseOp(text)
		if err != nil {
			return Segment{}, err
		}
		text = rest
		if op.kind == opStar && len(ops) > 0 && ops[len(ops)-1].kind == opStar {
			continue
		}
		if op.kind == opRune {
			literal.WriteRune(op.r)
		} else {
			wild++
		}
		ops = append(ops, op)
	}
	switch {
	case wild == 0:
		return Segment{Text: literal.String()}, nil
	case wild == 1 && ops[0].kind == opStar:
		return Segment{ops: ops, suffix: literal.String()}, nil
	}
	return Segment{ops: ops}, nil
}

func parseOp(text string) (op element, rest string, err error) {
	r, n := utf8.DecodeRuneInString(text)
	rest = text[n:]
	switch r {
	case '*':
		return element{kind: opStar}, rest, nil
	case '?':
		return element{kind: opAny}, rest, nil
	case '[':
		return parseClass(rest)
	case '\\':
		if rest == "" {
			return op, "", errors.New("a backslash at the end of a name escapes nothing")
		}
		r, n = utf8.DecodeRuneInString(rest)
		rest = rest[n:]
	}
	return element{kind: opRune, r: r}, rest, nil
}

var errClass = errors.New("a [ without its ]; write \\[ for the character")

// parseClass reads what follows the opening bracket. A ] that comes first is a
// member, as in gitignore.
func parseClass(text string) (op element, rest string, err error) {
	op.kind = opClass
	if text != "" && (text[0] == '!' || text[0] == '^') {
		op.negated, text = true, text[1:]
	}
	for first := true; ; first = false {
		if text == "" {
			return op, "", errClass
		}
		if text[0] == ']' && !first {
			return op, text[1:], nil
		}
		var lo, hi rune
		if lo, text, err = classRune(text); err != nil {
			return op, "", err
		}
		hi = lo
		if len(text) > 1 && text[0] == '-' && text[1] != ']' {
			if hi, text, err = classRune(text[1:]); err != nil {
				return op, "", err
			}
		}
		if hi < lo {
			return op, "", errors.New("a range in [...] that runs backwards")
		}
		op.ranges = append(op.ranges, runeRange{lo, hi})
	}
}

func classRune(text string) (r rune, rest string, err error) {
	if text[0] == '\\' {
		text = text[1:]
		if text == "" {
			return 0, "", errClass
		}
	}
	r, n := utf8.DecodeRuneInString(text)
	return r, text[n:], nil
}

// Match reports whether the segment, which is not deep, matches a whole
// component. It takes at most the product of their lengths in steps.
func (s *Segment) Match(name string, fold bool) bool {
	if s.ops == nil {
		return name == s.Text || fold && strings.EqualFold(name, s.Text)
	}
	if s.suffix != "" && !fold {
		return strings.HasSuffix(name, s.suffix)
	}
	i, star, after := 0, -1, ""
	for name != "" {
		if i < len(s.ops) && s.ops[i].kind == opStar {
			star, after = i, name
			i++
			continue
		}
		r, n := decodeRune(name)
		if i < len(s.ops) && s.ops[i].match(r, fold) {
			i++
			name = name[n:]
			continue
		}
		if star < 0 {
			return false
		}
		_, n = decodeRune(after)
		after = after[n:]
		name, i = after, star+1
	}
	for i < len(s.ops) && s.ops[i].kind == opStar {
		i++
	}
	return i == len(s.ops)
}

func decodeRune(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		r = invalidByte
	}
	return r, n
}

func (op *element) match(r rune, fold bool) bool {
	switch op.kind {
	case opAny:
		return true
	case opRune:
		return r == op.r || fold && r >= 0 && sameFold(r, op.r)
	}
	return op.contains(r, fold) != op.negated
}

func (op *element) contains(r rune, fold bool) bool {
	if op.inRange(r) {
		return true
	}
	if !fold || r < 0 {
		return false
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if op.inRange(f) {
			return true
		}
	}
	return false
}

func (op *element) inRange(r rune) bool {
	for _, rg := range op.ranges {
		if rg.lo <= r && r <= rg.hi {
			return true
		}
	}
	return false
}

func sameFold(a, b rune) bool {
	for f := unicode.SimpleFold(a); f != a; f = unicode.SimpleFold(f) {
		if f == b {
			return true
		}
	}
	return false
}
