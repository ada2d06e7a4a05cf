package toolquaytest

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

// expression finds lines as the host does, whose regular expressions are those of Rust's
// crate regex. They are rewritten for package regexp; what that cannot say is refused
// with [toolquay.CodeUnsupported], never matched in another way.
type expression struct {
	re *regexp.Regexp
	// ascii says that it asks for word boundaries, which package regexp knows in ASCII
	// alone.
	ascii bool
}

func compile(pattern string, fold bool) (*expression, error) {
	r := &rewriting{src: []rune(pattern)}
	if !utf8.ValidString(pattern) || strings.ContainsRune(pattern, 0) {
		return nil, invalid("it holds a NUL byte or bytes that are not UTF-8")
	}
	if err := r.all(); err != nil {
		return nil, err
	}
	text := r.out.String()
	if fold {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	var why *syntax.Error
	switch {
	case errors.As(err, &why) && slices.Contains(refusedByBoth, why.Code):
		return nil, invalid("%v", err)
	case err != nil:
		return nil, beyond("%v", err)
	}
	return &expression{re, r.ascii}, nil
}

var refusedByBoth = []syntax.ErrorCode{
	syntax.ErrMissingRepeatArgument, syntax.ErrMissingParen, syntax.ErrUnexpectedParen,
	syntax.ErrMissingBracket, syntax.ErrInvalidCharRange, syntax.ErrTrailingBackslash,
}

// matches reports whether a line matches.
func (x *expression) matches(line string) (bool, error) {
	if !utf8.ValidString(line) || x.ascii && strings.IndexFunc(line, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return false, beyond(`it is searched for in a line of bytes that are not UTF-8, or with \b or \B in one of other letters than ASCII: %.100q`, line)
	}
	return x.re.MatchString(line), nil
}

func invalid(format string, args ...any) error {
	return toolquay.Errorf(toolquay.CodeInvalidInput, "pattern: %s", fmt.Sprintf(format, args...))
}

func beyond(format string, args ...any) error {
	return toolquay.Errorf(toolquay.CodeUnsupported, "this test host cannot match the pattern as a real one does: %s; supply search.contents with Host.On",
		fmt.Sprintf(format, args...))
}

// rewriting turns a pattern of Rust's into one of Go's.
type rewriting struct {
	src   []rune
	pos   int
	out   strings.Builder
	ascii bool
	names []string // of groups
}

// peek is the rune that is so many ahead, 0 behind the end.
func (r *rewriting) peek(ahead int) rune {
	if r.pos+ahead < len(r.src) {
		return r.src[r.pos+ahead]
	}
	return 0
}

func (r *rewriting) next() rune {
	c := r.peek(0)
	r.pos++
	return c
}

func (r *rewriting) all() error {
	for r.pos < len(r.src) {
		var err error
		switch c := r.next(); c {
		case '\\':
			err = r.escape(false)
		case '[':
			err = r.class()
		case '(':
			err = r.group()
		case '{':
			err = r.counted()
		case '\n':
			err = invalid("a line's end, and no match spans lines")
		default:
			r.out.WriteRune(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var repetition = regexp.MustCompile(`^\s*[0-9]+\s*(,\s*([0-9]+\s*)?)?\}`)

// counted rewrites {n,m}, which for Rust may have spaces. Other braces are text for Go, and
// faults for Rust.
func (r *rewriting) counted() error {
	m := repetition.FindString(string(r.src[r.pos:]))
	if m == "" {
		return invalid(`a { that is no repetition such as {2,3}; write \{ for the character`)
	}
	r.out.WriteString("{" + strings.Join(strings.Fields(m), ""))
	r.pos += len(m)
	return nil
}

var (
	groupName = regexp.MustCompile(`^\?P?<([^>]*)>`)
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	flags     = regexp.MustCompile(`^\?([A-Za-z-]*)[:)]`)
)

// group passes over what opens a group.
func (r *rewriting) group() error {
	r.out.WriteByte('(')
	if r.peek(0) != '?' {
		return nil
	}
	rest := string(r.src[r.pos:])
	if look := strings.HasPrefix(rest, "?=") || strings.HasPrefix(rest, "?!") || strings.HasPrefix(rest, "?<=") || strings.HasPrefix(rest, "?<!"); look {
		return invalid("look-around is not supported")
	}
	if m := groupName.FindStringSubmatch(rest); m != nil {
		if !plainName.MatchString(m[1]) {
			return beyond("the group name %q", m[1])
		}
		if slices.Contains(r.names, m[1]) {
			return invalid("two groups with the name %q", m[1])
		}
		r.names = append(r.names, m[1])
		r.out.WriteString("?P<" + m[1] + ">")
		r.pos += utf8.RuneCountInString(m[0])
		return nil
	}
	m := flags.FindStringSubmatch(rest)
	if m == nil {
		return invalid("a group that begins with (%.10s", rest)
	}
	if err := checkFlags(m[1], strings.HasSuffix(m[0], ")")); err != nil {
		return err
	}
	r.out.WriteString("?" + m[1])
	r.pos += 1 + len(m[1])
	if next := r.peek(1); strings.HasSuffix(m[0], ")") && next != 0 && strings.ContainsRune("*+?{", next) {
		return invalid("a repetition of the flags %q", m[1])
	}
	return nil
}

func checkFlags(list string, alone bool) error {
	for i, c := range list {
		switch {
		case strings.ContainsRune("uxR", c):
			return beyond("the flag %c", c)
		case !strings.ContainsRune("imsU-", c) || strings.ContainsRune(list[i+1:], c):
			return invalid("the flags %q", list)
		}
	}
	if strings.HasSuffix(list, "-") || alone && list == "" {
		return invalid("the flags %q", list)
	}
	return nil
}

// escape rewrites what follows a backslash, in a class or not.
func (r *rewriting) escape(inClass bool) error {
	if r.pos >= len(r.src) {
		return invalid("a backslash at its end")
	}
	c := r.next()
	switch {
	case strings.ContainsRune("dDwWsS", c):
		r.perl(c, inClass)
	case c == 'p' || c == 'P':
		return r.property(c)
	case strings.ContainsRune("xuU", c):
		return r.code(c)
	case c == 'n' && !inClass:
		return invalid(`\n, and no match spans lines`)
	case strings.ContainsRune("aftnrv", c):
		r.out.WriteString(`\` + string(c))
	case strings.ContainsRune("bBAz<>", c) && inClass:
		return invalid(`\%c in a class`, c)
	case c == '<' || c == '>' || c == 'b' && r.peek(0) == '{':
		return beyond("the beginning or the end of a word")
	case c == 'b' || c == 'B':
		r.ascii = true
		r.out.WriteString(`\` + string(c))
	case c == 'A' || c == 'z':
		r.out.WriteString(`\` + string(c))
	case c > unicode.MaxASCII || unicode.IsLetter(c) || unicode.IsDigit(c):
		return invalid(`\%c, which means nothing`, c)
	default:
		r.out.WriteString(`\` + string(c))
	}
	return nil
}

// perl writes a class of Perl's, which are those of Unicode.
func (r *rewriting) perl(c rune, inClass bool) {
	text := perlClasses()[c]
	if !inClass {
		text = "[" + text + "]"
	}
	r.out.WriteString(text)
}

// property passes over \p. Names of general categories and scripts are the same.
func (r *rewriting) property(c rune) error {
	name := string(r.next())
	if name == "{" {
		rest := string(r.src[r.pos:])
		var closed bool
		if name, _, closed = strings.Cut(rest, "}"); !closed {
			return invalid(`a \%c{ without its }`, c)
		}
		r.pos += utf8.RuneCountInString(name) + 1
	}
	_, category := unicode.Categories[name]
	_, script := unicode.Scripts[name]
	switch {
	case name == "Cs":
		return invalid("the class of surrogates, which no text has")
	case category || script || name == "Any":
		r.out.WriteString(`\` + string(c) + "{" + name + "}")
		return nil
	case strings.HasPrefix(name, "^"):
		return invalid("the class %q", name)
	}
	return beyond(`the class \%c{%s}; it knows general categories and scripts by their short names`, c, name)
}

// code rewrites a character that is written by its number.
func (r *rewriting) code(c rune) error {
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[c]
	var text string
	if r.peek(0) == '{' {
		rest := string(r.src[r.pos+1:])
		text, _, _ = strings.Cut(rest, "}")
		r.pos += utf8.RuneCountInString(text) + 2
	} else {
		text = string(r.src[r.pos:min(r.pos+digits, len(r.src))])
		r.pos += digits
		if len(text) != digits {
			text = ""
		}
	}
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) || n == 0 || n == '\n' {
		return invalid(`\%c%s is no character that a line has`, c, text)
	}
	fmt.Fprintf(&r.out, `\x{%x}`, n)
	return nil
}

var asciiClass = regexp.MustCompile(`^\[:\^?(alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]`)

// class rewrites what follows an opening bracket, up to the closing one.
func (r *rewriting) class() error {
	start := r.out.Len()
	r.out.WriteByte('[')
	if r.peek(0) == '^' {
		r.out.WriteRune(r.next())
	}
	if r.peek(0) == ']' {
		r.next()
		r.out.WriteString(`\]`)
	}
	for r.pos < len(r.src) {
		switch c := r.next(); {
		case c == ']':
			r.out.WriteByte(']')
			if text := r.out.String()[start:]; text == `[\n]` || text == "[\n]" {
				return invalid("a line's end, and no match spans lines")
			}
			return nil
		case c == '\\':
			isClass := strings.ContainsRune("dDwWsSpP", r.peek(0))
			if err := r.escape(true); err != nil {
				return err
			}
			if isClass && r.peek(0) == '-' && r.peek(1) != '-' && r.peek(1) != ']' {
				return invalid("a range that begins with a class")
			}
		case c == '[':
			name := asciiClass.FindString(string(r.src[r.pos-1:]))
			if name == "" {
				return beyond("a class within a class")
			}
			r.out.WriteString(name)
			r.pos += len(name) - 1
		case strings.ContainsRune("&-~", c) && r.peek(0) == c:
			return beyond("the operation %c%c of classes", c, c)
		default:
			r.out.WriteRune(c)
		}
	}
	return invalid("a [ without its ]")
}

// perlClasses are what the letters of Perl's classes stand for, within brackets.
var perlClasses = sync.OnceValue(func() map[rune]string {
	word := rangesOf(unicode.L, unicode.Nl, unicode.M, unicode.Nd, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
	space := rangesOf(unicode.White_Space)
	return map[rune]string{
		'd': `\p{Nd}`, 'D': `\P{Nd}`,
		'w': written(word), 'W': written(others(word)), 's': written(space), 'S': written(others(space)),
	}
})

type runes struct{ from, to rune }

// rangesOf joins tables, in order.
func rangesOf(tables ...*unicode.RangeTable) []runes {
	in := make([]bool, unicode.MaxRune+2)
	for _, t := range tables {
		for _, r := range t.R16 {
			for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
				in[c] = true
			}
		}
		for _, r := range t.R32 {
			for c := r.Lo; c <= r.Hi; c += r.Stride {
				in[c] = true
			}
		}
	}
	var out []runes
	for c := range in {
		switch {
		case !in[c]:
		case len(out) > 0 && out[len(out)-1].to == rune(c)-1:
			out[len(out)-1].to = rune(c)
		default:
			out = append(out, runes{rune(c), rune(c)})
		}
	}
	return out
}

// others are the runes that are in none of the ranges.
func others(ranges []runes) []runes {
	var out []runes
	from := rune(0)
	for _, r := range ranges {
		if r.from > from {
			out = append(out, runes{from, r.from - 1})
		}
		from = r.to + 1
	}
	return append(out, runes{from, unicode.MaxRune})
}

func written(ranges []runes) string {
	var b strings.Builder
	for _, r := range ranges {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, r.from, r.to)
	}
	return b.String()
}
