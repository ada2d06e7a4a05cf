package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
	"github.com/toolquay/toolquay/permissions"
)

// word is one word that a program is given.
type word struct {
	programs.Arg
	// also is another text rules may name it by: with ~ and $HOME as they were
	// written. It is empty where there is none.
	also string
	// translated says that also is what it is where no catalogue translates it.
	translated bool
	// prefix is what stands before the first thing that is not known; under says
	// that a path goes on behind that: with the variable unset, it starts there.
	prefix string
	under  bool
	// braced says that it has braces which are not expanded here.
	braced bool
	// pipe marks a process substitution.
	pipe bool
	// fed is what the word is a name of that xargs puts in its place.
	fed *feed
}

func (w *word) word() permissions.Word { return permissions.Word{Text: w.Text, Literal: w.Literal} }

// is reports whether the word is exactly this text.
func (w *word) is(text string) bool { return w.Literal && w.Text == text }

// fields are the words that one word of the source becomes: none or several
// where braces are expanded.
func (a *analysis) fields(w *syntax.Word, s *state) []word {
	if lit := w.Lit(); len(w.Parts) == 1 && lit != "" && isSimple(lit) {
		return []word{{Arg: programs.Arg{Text: lit, Literal: true}}}
	}
	l := a.spell(w, s, false)
	spellings, ok := l.braces()
	split := len(spellings) > 1
	var out []word
	for i := range spellings {
		sp := &spellings[i]
		switch empty := len(sp.text) == 0; {
		case empty && sp.quoted && split:
			ok = false // whether it is a word depends on where the quotes were
		case !empty || sp.quoted:
			out = append(out, a.field(w, sp, s, split))
		}
	}
	if !ok {
		return []word{{Arg: programs.Arg{Text: source(w, a.text)}, braced: true}}
	}
	return out
}

// field turns what is left of a word after brace expansion into one.
func (a *analysis) field(w *syntax.Word, l *letters, s *state, split bool) word {
	out := word{prefix: l.prefix()}
	out.under = len(out.prefix) == 0 && l.under()
	home := a.tilde(l, s)
	hole := slices.Contains(l.mark, markHole) || l.foreignBlank()
	out.Glob = !hole && l.glob()
	out.Literal = !hole && !out.Glob
	out.Single = hole && !l.several && slices.Contains(l.mark, markHole)
	switch {
	case out.Glob:
		out.Text = l.pattern()
	case out.Literal, split:
		out.Text = string(l.text)
	default:
		out.Text = source(w, a.text)
		out.pipe = isPipe(w)
	}
	if (home || l.home || l.given) && !split {
		raw := a.spell(w, s, true)
		out.also = string(raw.text)
	}
	if l.translated && !split {
		out.also, out.translated = string(l.text), true
	}
	return out
}

// isSimple reports whether a literal stands for itself: the usual case.
func isSimple(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			continue
		}
		if strings.IndexByte("-_./,=+:@%", c) < 0 {
			return false
		}
	}
	return true
}

// isPipe reports whether a word is <(COMMAND).
func isPipe(w *syntax.Word) bool {
	p := processOf(w)
	return p != nil && p.Op == syntax.CmdIn
}

// processOf is the <(COMMAND) or >(COMMAND) that a word is, the name of a pipe; or nil.
func processOf(w *syntax.Word) *syntax.ProcSubst {
	if len(w.Parts) != 1 {
		return nil
	}
	p, _ := w.Parts[0].(*syntax.ProcSubst)
	return p
}

// The marks of a letter.
const (
	markPlain  = 'p'
	markQuoted = 'q'
	// markHole is the source of an expansion whose result is not known.
	markHole = 'h'
)

// letters is a word letter by letter, quotes taken off.
type letters struct {
	text, mark []byte
	// quoted says that there were quotes, so that it is a word even if empty.
	quoted bool
	// home says that $HOME was put in, and given that a variable was that the shell starts
	// with.
	home, given bool
	// several says that an expansion in it may yield any number of words.
	several bool
	// translated says that a hole is text that may be translated.
	translated bool
	// wild says that it holds the name of a file that a pattern in its place matches.
	wild bool
}

func (l *letters) add(text string, mark byte) {
	for i := range len(text) {
		l.text, l.mark = append(l.text, text[i]), append(l.mark, mark)
	}
}

// plain reports whether the letter at i is this one, unquoted.
func (l *letters) plain(i int, c byte) bool { return l.text[i] == c && l.mark[i] == markPlain }

// spell takes the quotes off a word. With raw, $HOME stays as it is written.
func (a *analysis) spell(w *syntax.Word, s *state, raw bool) letters {
	var l letters
	for _, part := range w.Parts {
		a.spellPart(&l, part, s, raw, false)
	}
	return l
}

func (a *analysis) spellPart(l *letters, part syntax.WordPart, s *state, raw, double bool) {
	switch part := part.(type) {
	case *syntax.Lit:
		l.literal(part.Value, double)
	case *syntax.SglQuoted:
		l.quoted = true
		if !part.Dollar {
			l.add(part.Value, markQuoted)
		} else if text, ok := ansi(part.Value); ok {
			l.add(text, markQuoted)
		} else {
			l.add(source(part, a.text), markHole)
		}
	case *syntax.DblQuoted:
		l.quoted = true
		from := len(l.text)
		for _, inner := range part.Parts {
			a.spellPart(l, inner, s, raw, true)
		}
		if part.Dollar {
			// The text is looked up in a catalogue of translations.
			l.translated = true
			for i := from; i < len(l.mark); i++ {
				l.mark[i] = markHole
			}
		}
	case *syntax.ParamExp:
		home := a.home(s)
		c, known := a.valueOf(part, s)
		known = known && len(l.text)+len(c.value) <= maxKnown
		switch {
		case known && (double || plainPath(c.value) && !c.wild) && (!raw || !c.given):
			l.variable(c)
		case known && c.given && (double || plainPath(c.value)):
			l.add(source(part, a.text), markQuoted)
		case !isHome(part, a.text) || home == "" || !double && !isSimple(home):
			l.add(source(part, a.text), markHole)
			l.several = l.several || !double || part.Param == nil || part.Param.Value == "@" || part.Index != nil
		case raw:
			l.add(source(part, a.text), markQuoted)
		default:
			l.add(home, markQuoted)
			l.home = true
		}
	case *syntax.ProcSubst:
		l.add(source(part, a.text), markHole)
	case *syntax.ArithmExp, *syntax.CmdSubst, *syntax.ExtGlob:
		if sub, ok := part.(*syntax.CmdSubst); ok {
			if value, known := a.printedName(sub, s); known {
				l.add(value, markQuoted)
				break
			}
		}
		l.add(source(part, a.text), markHole)
		l.several = l.several || !double
	default:
		l.add("?", markHole)
		l.several = true
	}
}

// variable adds the value of a variable. The wildcards of a pattern keep their meaning.
func (l *letters) variable(c variable) {
	l.wild, l.given = l.wild || c.wild, l.given || c.given
	for i := range len(c.value) {
		l.add(c.value[i:i+1], quoteMark(!c.wild || c.value[i] != '*' && c.value[i] != '?'))
	}
}

func isHome(p *syntax.ParamExp, text string) bool {
	code := source(p, text)
	return code == "$HOME" || code == "${HOME}"
}

// literal adds source text: outside of quotes, or inside double ones, where a
// backslash escapes only some characters.
func (l *letters) literal(value string, double bool) {
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c != '\\' || i+1 == len(value) {
			l.text, l.mark = append(l.text, c), append(l.mark, quoteMark(double || c == '\\'))
			continue
		}
		i++
		switch next := value[i]; {
		case next == '\n':
		case double && strings.IndexByte("$`\"\\", next) < 0:
			l.add(value[i-1:i+1], markQuoted)
		default:
			l.add(value[i:i+1], markQuoted)
			l.quoted = true
		}
	}
}

func quoteMark(quoted bool) byte {
	if quoted {
		return markQuoted
	}
	return markPlain
}

// tilde expands ~ and ~/ at the start, and reports whether it did. Other
// users' homes, and the tildes of what looks like an assignment, are holes.
func (a *analysis) tilde(l *letters, s *state) bool {
	for i := 1; i < len(l.text); i++ {
		if l.plain(i, '~') && (l.plain(i-1, '=') || l.plain(i-1, ':')) {
			l.mark[i], l.several = markHole, true
		}
	}
	if len(l.text) == 0 || !l.plain(0, '~') {
		return false
	}
	end := 1
	for ; end < len(l.text) && !l.plain(end, '/'); end++ {
		if l.mark[end] == markQuoted {
			return false
		}
	}
	home := a.home(s)
	if end > 1 || home == "" {
		l.mark[0], l.several = markHole, true
		return false
	}
	l.text = append([]byte(home), l.text[1:]...)
	l.mark = append([]byte(strings.Repeat(string(rune(markQuoted)), len(home))), l.mark[1:]...)
	return true
}

// prefix is the text before the first hole; empty without one.
func (l *letters) prefix() string {
	return string(l.text[:max(0, slices.Index(l.mark, markHole))])
}

// under reports whether the word starts with holes and a path goes on behind.
func (l *letters) under() bool {
	for i := range l.text {
		if l.mark[i] != markHole {
			return i > 0 && (l.text[i] == '/' || l.mark[i] == markPlain && strings.IndexByte("*?[{.", l.text[i]) >= 0)
		}
	}
	return false
}

// glob reports whether there are unquoted pattern characters.
func (l *letters) glob() bool {
	open := false
	for i, c := range l.text {
		if l.mark[i] == markQuoted {
			continue
		}
		switch c {
		case '*', '?':
			return true
		case '[':
			open = true
		}
		if open && c == ']' {
			return true
		}
	}
	return open && slices.Contains(l.text, ']')
}

// pattern is the text with what was quoted escaped.
func (l *letters) pattern() string {
	var b strings.Builder
	for i, c := range l.text {
		if l.mark[i] == markQuoted && strings.IndexByte(`*?[]\`, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// foreignBlank reports whether an unquoted letter holds a byte that a bash of
// old takes for a blank, as it looks at bytes of UTF-8 one by one.
func (l *letters) foreignBlank() bool {
	for i, c := range l.text {
		if (c == 0x85 || c == 0xa0) && l.mark[i] == markPlain {
			return true
		}
	}
	return false
}
