package permissions

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// segment is one component of a path pattern: a literal name, a glob, or deep,
// which stands for any number of components, none included.
type segment struct {
	deep bool
	text string // the literal name, if there are no ops
	ops  []globOp
	// suffix is x where the glob is *x, the commonest kind.
	suffix string
}

var deepSegment = segment{deep: true}

// anySegment is "*": any one component.
var anySegment = segment{ops: []globOp{{kind: opStar}}}

func (s *segment) literal() bool { return !s.deep && s.ops == nil }

type opKind uint8

const (
	opRune  opKind = iota
	opAny          // ?
	opStar         // *
	opClass        // [...]
)

type globOp struct {
	kind    opKind
	r       rune
	negated bool
	ranges  []runeRange
}

type runeRange struct{ lo, hi rune }

// invalidByte stands for a byte of a name that is not UTF-8. Only wildcards
// match it.
const invalidByte rune = -1

// parseSegment reads one component of a pattern, without slashes.
func parseSegment(text string) (segment, error) {
	if text == "**" {
		return deepSegment, nil
	}
	if !strings.ContainsAny(text, `*?[\`) && utf8.ValidString(text) {
		return segment{text: text}, nil // most are names
	}
	var ops []globOp
	var literal strings.Builder
	wild := 0
	for text != "" {
		op, rest, err := parseOp(text)
		if err != nil {
			return segment{}, err
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
		return segment{text: literal.String()}, nil
	case wild == 1 && ops[0].kind == opStar:
		return segment{ops: ops, suffix: literal.String()}, nil
	}
	return segment{ops: ops}, nil
}

func parseOp(text string) (op globOp, rest string, err error) {
	r, n := utf8.DecodeRuneInString(text)
	rest = text[n:]
	switch r {
	case '*':
		return globOp{kind: opStar}, rest, nil
	case '?':
		return globOp{kind: opAny}, rest, nil
	case '[':
		return parseClass(rest)
	case '\\':
		if rest == "" {
			return op, "", errors.New("a backslash at the end of a name escapes nothing")
		}
		r, n = utf8.DecodeRuneInString(rest)
		rest = rest[n:]
	}
	return globOp{kind: opRune, r: r}, rest, nil
}

var errClass = errors.New("a [ without its ]; write \\[ for the character")

// parseClass reads what follows the opening bracket. A ] that comes first is a
// member, as in gitignore.
func parseClass(text string) (op globOp, rest string, err error) {
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

// match reports whether the segment, which is not deep, matches a whole
// component. It takes at most the product of their lengths in steps.
func (s *segment) match(name string, fold bool) bool {
	if s.ops == nil {
		return name == s.text || fold && strings.EqualFold(name, s.text)
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

func (op *globOp) match(r rune, fold bool) bool {
	switch op.kind {
	case opAny:
		return true
	case opRune:
		return r == op.r || fold && r >= 0 && sameFold(r, op.r)
	}
	return op.contains(r, fold) != op.negated
}

func (op *globOp) contains(r rune, fold bool) bool {
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

func (op *globOp) inRange(r rune) bool {
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
