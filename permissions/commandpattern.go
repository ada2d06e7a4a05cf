package permissions

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// maxCommandRule is the longest rule on a command, in bytes: as long as the
// longest command that is parsed.
const maxCommandRule = 10_000

// commandPattern is what a rule says of commands. It is compared with words, so
// that no quoting, spacing or operator inside a word tells.
type commandPattern struct {
	// whole is the text of one whole command, where there is no wildcard.
	whole string
	// words are those of the rule; prefix lets more follow.
	words  []ruleWord
	prefix bool
	// glob is set where a wildcard stands elsewhere than behind the last word:
	// the words in one string, with gap between them, split at the wildcards.
	glob []string
	// text is the rule with one gap between words and operators, split at the
	// wildcards, where compound is set.
	text []string
	// compound says that the rule is about more than the words of one simple
	// command: several, a redirection, a variable that is set. It is compared
	// with whole texts alone.
	compound bool
}

// parseCommand reads what stands in the parentheses of a rule on commands.
func parseCommand(spec string) (*commandPattern, error) {
	switch {
	case len(spec) > maxCommandRule:
		return nil, fmt.Errorf("a command of %d bytes; at most %d are read", len(spec), maxCommandRule)
	case !utf8.ValidString(spec):
		return nil, errors.New("a command that is not UTF-8")
	case strings.ContainsFunc(spec, unicode.IsControl):
		return nil, errors.New("a control character in a command")
	}
	p := &commandPattern{}
	body := spec
	if rest, ok := strings.CutSuffix(body, ":*"); ok {
		body, p.prefix = rest, true
	} else if rest, ok := strings.CutSuffix(body, " *"); ok {
		body, p.prefix = rest, true
	}
	body, stars := markStars(body)
	var s splitter
	if err := s.split(body); err != nil {
		return nil, err
	}
	p.words, p.compound = s.words, s.compound
	if len(p.words) > 0 && isAssignment(p.words[0].raw) {
		p.compound = true
	}
	if p.compound {
		p.text = strings.Split(spaced(body), string(rune(wild)))
	}
	switch {
	case len(p.words) == 0 && p.prefix:
		p.glob, p.prefix = []string{"", ""}, false
	case len(p.words) == 0:
		return nil, errors.New("no command between the parentheses")
	case stars:
		p.glob = p.pieces()
	case !p.prefix:
		p.whole = strings.ReplaceAll(strings.TrimSpace(spec), `\*`, "*")
	}
	return p, nil
}

// isAssignment reports whether a word sets a variable.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, nameLetters) == ""
}

// markStars puts wild where a star is a wildcard: not behind a backslash, and not
// behind a colon.
func markStars(text string) (marked string, stars bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i++
		case text[i] == '*' && (i == 0 || text[i-1] != ':'):
			b.WriteByte(wild)
			stars = true
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), stars
}

// pieces joins the words and splits them at the wildcards.
func (p *commandPattern) pieces() []string {
	var b strings.Builder
	for i, w := range p.words {
		if i > 0 {
			b.WriteByte(gap)
		}
		b.WriteString(w.text)
	}
	return strings.Split(b.String(), string(wild))
}

// head is the words before the first wildcard, and what stands before it in its
// word. It reports false where the program could be one that runs others.
func (p *commandPattern) head() (words []string, ok bool) {
	for i, w := range p.words {
		text, _, cut := strings.Cut(w.text, string(wild))
		if cut && i == 0 && (text == "" || startsRunner(text)) {
			return nil, false
		}
		if text != "" {
			words = append(words, text)
		}
		if cut {
			break
		}
	}
	return words, true
}

// open reports whether the pattern lets anything follow or stand between.
func (p *commandPattern) open() bool { return p.prefix || p.glob != nil }

// allows reports whether an allow speaks of a part. What a wildcard stands for is
// any words; a word in which the shell expands something is matched by nothing
// else, or by being written the same.
func (p *commandPattern) allows(part *Part) bool {
	words := part.Words
	if p.compound || part.Inner || len(part.Env) > 0 && !part.EnvTunes || len(words) == 0 || !words[0].Literal {
		return false
	}
	return p.matches(words) && (!p.open() || !neverByPrefix(words))
}

func (p *commandPattern) matches(words []Word) bool {
	if p.glob != nil {
		return matchPieces(p.glob, joinWords(words), p.prefix)
	}
	if len(words) < len(p.words) || len(words) > len(p.words) && !p.prefix {
		return false
	}
	for i := range p.words {
		if !p.words[i].allows(words[i]) {
			return false
		}
	}
	return true
}

func (w *ruleWord) allows(word Word) bool {
	if word.Literal {
		return !w.expands && w.text == word.Text
	}
	return w.raw == word.Text
}

// line is the words of a simple command as deny and ask rules are compared with
// them.
type line struct {
	words []Word
	fold  bool
	// text is the words in one string, made where a rule needs it.
	text string
}

func (l *line) joined() string {
	if l.text == "" {
		l.text = plainWords(l.words)
		if l.fold {
			l.text = paths.Fold(l.text)
		}
	}
	return l.text
}

// holdsBack compares a deny or ask with a command's words. It may match where
// what the shell puts for a word could make it match.
func (p *commandPattern) holdsBack(l *line) (match, may bool) {
	if p.compound {
		return false, false
	}
	if p.glob != nil {
		return p.globHoldsBack(l)
	}
	words, fold := l.words, l.fold
	for i := range p.words {
		if i < len(words) && p.words[i].is(words[i].Text, fold) {
			continue
		}
		if i == 0 && len(words) > 0 && p.words[0].names(words[0].Text, fold) {
			continue
		}
		return false, hasExpansion(words[:min(i+1, len(words))])
	}
	if p.prefix || len(words) == len(p.words) {
		return true, false
	}
	return false, hasExpansion(words)
}

// is reports whether a word is the rule's, in any reading.
func (w *ruleWord) is(text string, fold bool) bool {
	return w.text == text || w.raw == text || fold && strings.EqualFold(w.text, text)
}

// names reports whether a word is the rule's program, in whatever directory.
func (w *ruleWord) names(program string, fold bool) bool {
	a, b := path.Base(w.text), path.Base(program)
	return a == b || fold && strings.EqualFold(a, b)
}

func hasExpansion(words []Word) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return !w.Literal })
}

func (p *commandPattern) globHoldsBack(l *line) (match, may bool) {
	pieces := p.glob
	if l.fold {
		pieces = foldAll(pieces)
	}
	if matchPieces(pieces, l.joined(), p.prefix) {
		return true, false
	}
	i := slices.IndexFunc(l.words, func(w Word) bool { return !w.Literal })
	if i < 0 {
		return false, false
	}
	// Before what the shell expands it must not contradict the rule.
	known := line{words: l.words[:i], fold: l.fold}
	n := min(len(known.joined()), len(pieces[0]))
	return false, known.joined()[:n] == pieces[0][:n]
}

func foldAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = paths.Fold(text)
	}
	return out
}

// isText reports whether the rule is a whole command's text.
func (p *commandPattern) isText(text string) bool {
	return p.whole != "" && p.whole == strings.TrimSpace(text)
}

// holdsBackText compares a deny or ask on more than a simple command with a
// whole command, however it is spaced and whatever stands before and behind.
func (p *commandPattern) holdsBackText(text string, fold bool) bool {
	if text = spaced(text); fold {
		text = paths.Fold(text)
		p = &commandPattern{text: foldAll(p.text), prefix: p.prefix}
	}
	for {
		if p.startsWith(text) {
			return true
		}
		next := strings.IndexByte(text, gap)
		if next < 0 || p.text[0] == "" {
			return false // what starts with a wildcard was looked for everywhere
		}
		text = text[next+1:]
	}
}

// startsWith reports whether a text starts with the pieces, and ends there or
// goes on with an operator; with a wildcard or behind a prefix it may go on with
// anything, as it is to hold back rather too much.
func (p *commandPattern) startsWith(text string) bool {
	rest, ok := strings.CutPrefix(text, p.text[0])
	for _, piece := range p.text[1:] {
		if ok {
			_, rest, ok = strings.Cut(rest, piece)
		}
	}
	if !ok || rest == "" || len(p.text) > 1 {
		return ok
	}
	return rest[0] == gap && (p.prefix || isOperator(rune(rest[1])))
}

// spaced writes a command with one gap between its words and operators.
func spaced(text string) string {
	var b strings.Builder
	last := rune(gap)
	for _, r := range text {
		if isBlank(r) && r != wild {
			r = gap
		}
		border := isOperator(r) != isOperator(last) && r != gap && last != gap
		if border || r == gap && last != gap {
			b.WriteByte(gap)
		}
		if r != gap {
			b.WriteRune(r)
		}
		last = r
	}
	return strings.TrimSuffix(b.String(), string(rune(gap)))
}

// joinWords puts words in one string for an allow: for what expands it has wild,
// which only a wildcard can match.
func joinWords(words []Word) string {
	return join(words, func(w Word) string {
		if w.Literal {
			return w.Text
		}
		return string(rune(wild))
	})
}

// plainWords puts words in one string as they stand.
func plainWords(words []Word) string { return join(words, func(w Word) string { return w.Text }) }

func join(words []Word, text func(Word) string) string {
	size := 0
	for _, w := range words {
		size += len(w.Text) + 2
	}
	var b strings.Builder
	b.Grow(size)
	for i, w := range words {
		if i > 0 {
			b.WriteByte(gap)
		}
		b.WriteString(text(w))
	}
	return b.String()
}

// matchPieces matches a text against literal pieces with anything between them.
// Taking each piece where it first fits is enough. Where prefix is set, the text
// may go on behind a gap.
func matchPieces(pieces []string, text string, prefix bool) bool {
	first, last := pieces[0], pieces[len(pieces)-1]
	rest, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	if len(pieces) == 1 {
		return rest == "" || prefix && rest[0] == gap
	}
	for _, piece := range pieces[1 : len(pieces)-1] {
		if _, rest, ok = strings.Cut(rest, piece); !ok {
			return false
		}
	}
	if strings.HasSuffix(rest, last) {
		return true
	}
	return prefix && strings.Contains(rest, last+string(gap))
}
