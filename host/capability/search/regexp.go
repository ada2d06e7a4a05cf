package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// The bounds of a pattern: its time grows with text times program.
const (
	// maxPattern is its length in bytes.
	maxPattern = 4096
	// maxProgram is the number of instructions it compiles to.
	maxProgram = 10_000
	// maxSteps is how much work, in bytes of text times instructions, is done
	// without looking whether the search was cancelled: a few milliseconds.
	maxSteps = 1 << 20
	// backtrackBits is what package regexp lets its fast backtracker use, in
	// bytes of text times instructions.
	backtrackBits = 256_000
)

// regexpMatcher is the engine of package regexp. Where matches are single
// lines, the expression was changed so that no part of it matches a newline;
// then whole blocks of lines are searched at once.
type regexpMatcher struct {
	re *regexp.Regexp
	// next finds matches behind another one: it takes one code point before
	// them, so that ^ and \b see where they are.
	next *regexp.Regexp
	// literal must be in every match, unless it is empty; exact says that
	// nothing else is.
	literal   []byte
	exact     bool
	multiline bool
	program   int // instructions
}

// compile also reports whether matches can span lines: where multiline asks for
// it but the pattern cannot, single lines are searched, as ripgrep does.
func compile(q query) (m matcher, across bool, err error) {
	re, err := newRegexp(q)
	if err != nil {
		return nil, false, err
	}
	return re, re.multiline, nil
}

func newRegexp(q query) (*regexpMatcher, error) {
	if len(q.pattern) > maxPattern {
		return nil, invalid("the pattern of %d bytes is over the limit of %d", len(q.pattern), maxPattern)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if q.fold {
		flags |= syntax.FoldCase
	}
	if q.multiline {
		flags |= syntax.DotNL
	}
	tree, err := syntax.Parse(q.pattern, flags)
	if err != nil {
		return nil, explainSyntax(q.pattern, err)
	}
	across := q.multiline && spans(tree)
	if !across {
		if err := oneLine(tree); err != nil {
			return nil, err
		}
	}
	m := &regexpMatcher{multiline: across}
	if err := m.build(tree.String()); err != nil {
		return nil, err
	}
	literal, exact := required(tree)
	m.literal, m.exact = []byte(literal), exact && literal != "" && !across
	if len(literal) < 2 && !m.exact {
		m.literal = nil // found everywhere, it would only be in the way
	}
	return m, nil
}

func (m *regexpMatcher) build(text string) error {
	var err error
	if m.re, err = regexp.Compile(text); err != nil {
		return explainSyntax(text, err)
	}
	if m.next, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + text + `)`); err != nil {
		return explainSyntax(text, err)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return explainSyntax(text, err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return invalid("the pattern does not compile: %w", err)
	}
	if m.program = len(prog.Inst); m.program > maxProgram {
		return invalid("the pattern compiles to %d instructions, over the limit of %d; repeat less", m.program, maxProgram)
	}
	return nil
}

// explainSyntax says what is wrong with a pattern, and where.
func explainSyntax(pattern string, err error) error {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return invalid("pattern %.200q: %w", pattern, err)
	}
	hint := ""
	switch {
	case strings.HasPrefix(e.Expr, "(?"):
		hint = "; look-around is not supported"
	case e.Code == syntax.ErrInvalidEscape:
		hint = "; back-references are not supported, and \\\\ is a backslash"
	case e.Code == syntax.ErrMissingRepeatArgument:
		hint = "; put a backslash before it for the character itself"
	}
	at := max(strings.Index(pattern, e.Expr), 0)
	return invalid("pattern %.200q: %s at byte %d: %q%s", pattern, e.Code, at, e.Expr, hint)
}

func (m *regexpMatcher) find(ctx context.Context, text []byte, from int) (start, end int) {
	if m.multiline {
		return m.findAcross(ctx, text, from)
	}
	if len(m.literal) > 0 {
		return m.findByLiteral(ctx, text, from)
	}
	block := max(backtrackBits/m.program, 1<<10)
	for from < len(text) && ctx.Err() == nil {
		n := wholeLines(text[from:], block)
		if start, end = m.line(ctx, text[from:from+n]); start >= 0 {
			return from + start, from + end
		}
		from += n
	}
	return -1, -1
}

// findByLiteral looks at those lines only that hold what they must.
func (m *regexpMatcher) findByLiteral(ctx context.Context, text []byte, from int) (start, end int) {
	for ctx.Err() == nil {
		i := bytes.Index(text[from:], m.literal)
		if i < 0 {
			break
		}
		i += from
		if m.exact {
			return i, i + len(m.literal)
		}
		first := lineStart(text, i)
		last := lineEnd(text, i)
		if start, end = m.line(ctx, text[first:last]); start >= 0 {
			return first + start, first + end
		}
		from = last
	}
	return -1, -1
}

// line searches whole lines. A match behind the last newline is of a line that
// is not there.
func (m *regexpMatcher) line(ctx context.Context, lines []byte) (start, end int) {
	loc := m.run(ctx, m.re, lines)
	if loc == nil || loc[0] == len(lines) && len(lines) > 0 && lines[len(lines)-1] == '\n' {
		return -1, -1
	}
	return loc[0], loc[1]
}

func (m *regexpMatcher) findAcross(ctx context.Context, text []byte, from int) (start, end int) {
	if len(m.literal) > 0 && !bytes.Contains(text[from:], m.literal) {
		return -1, -1
	}
	base, at := 0, 0
	var loc []int
	if from == 0 {
		loc = m.run(ctx, m.re, text)
	} else {
		_, n := utf8.DecodeLastRune(text[:from])
		base, at = from-n, 2
		loc = m.run(ctx, m.next, text[base:])
	}
	if loc == nil || base+loc[at] == len(text) && text[len(text)-1] == '\n' {
		return -1, -1
	}
	return base + loc[at], base + loc[at+1]
}

// run searches at once where that is done soon, else in a way that sees a
// cancellation.
func (m *regexpMatcher) run(ctx context.Context, re *regexp.Regexp, text []byte) []int {
	if len(text) <= maxSteps/m.program {
		if re == m.re {
			return re.FindIndex(text) // quicker than with the groups
		}
		return re.FindSubmatchIndex(text)
	}
	r := &runes{ctx: ctx, text: text, every: max(1, min(4096, maxSteps/m.program))}
	loc := re.FindReaderSubmatchIndex(r)
	if ctx.Err() != nil {
		return nil
	}
	return loc
}

// runes hands out a text until the context is done.
type runes struct {
	ctx         context.Context // lives for one search
	text        []byte
	pos         int
	every, left int
}

// ReadRune returns the next code point; io.EOF also where the search is off.
func (r *runes) ReadRune() (rune, int, error) {
	if r.left--; r.left < 0 {
		r.left = r.every
		if r.ctx.Err() != nil {
			return 0, 0, io.EOF
		}
	}
	if r.pos == len(r.text) {
		return 0, 0, io.EOF
	}
	if c := r.text[r.pos]; c < utf8.RuneSelf {
		r.pos++
		return rune(c), 1, nil
	}
	c, n := utf8.DecodeRune(r.text[r.pos:])
	r.pos += n
	return c, n, nil
}

// wholeLines returns how much of text to take at once: about n bytes, to the
// end of a line.
func wholeLines(text []byte, n int) int {
	if len(text) <= n {
		return len(text)
	}
	if i := bytes.LastIndexByte(text[:n], '\n'); i >= 0 {
		return i + 1
	}
	return lineEnd(text, n)
}

// lineStart and lineEnd are where the line around i starts and where the next
// one does.
func lineStart(text []byte, i int) int { return bytes.LastIndexByte(text[:i], '\n') + 1 }

func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}
