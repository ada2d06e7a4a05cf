// Package commandrule compares rules on commands with the words of simple commands, and
// writes such rules.
package commandrule

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/runners"
	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// maxCommandRule is the longest rule on a command, in bytes: as long as the
// longest command that is parsed.
const maxCommandRule = 10_000

// Everything is the pattern that matches every command.
var Everything = &Pattern{glob: []string{"", ""}}

// Pattern is the command pattern of a rule, the text between its parentheses. It is compared
// with words, so that quoting, spacing and operators inside a word make no difference.
type Pattern struct {
	// whole is the text of one whole command, set if there is no wildcard.
	whole string
	// words are those of the rule; prefix lets more follow.
	words  []shellword.RuleWord
	prefix bool
	// glob is set where a wildcard stands elsewhere than after the last word: the words
	// in one string, with a gap between them, split at the wildcards.
	glob []string
	// text is set with Compound: the rule with one gap between words and operators, split
	// at the wildcards.
	text []string
	// Compound says that the rule covers more than the words of one simple command:
	// several commands, a redirection, a variable that is set. Only whole texts are
	// compared with it.
	Compound bool
}

// Parse reads the text between the parentheses of a rule on commands.
func Parse(spec string) (*Pattern, error) {
	switch {
	case len(spec) > maxCommandRule:
		return nil, fmt.Errorf("a command of %d bytes; at most %d are read", len(spec), maxCommandRule)
	case !utf8.ValidString(spec):
		return nil, errors.New("a command that is not UTF-8")
	case strings.ContainsFunc(spec, unicode.IsControl):
		return nil, errors.New("a control character in a command")
	}
	p := &Pattern{}
	body := spec
	if rest, ok := strings.CutSuffix(body, ":*"); ok {
		body, p.prefix = rest, true
	} else if rest, ok := strings.CutSuffix(body, " *"); ok {
		body, p.prefix = rest, true
	}
	body, stars := markStars(body)
	var err error
	if p.words, p.Compound, err = shellword.Split(body); err != nil {
		return nil, err
	}
	if len(p.words) > 0 && shellword.IsAssignment(p.words[0].Raw) {
		p.Compound = true
	}
	if p.Compound {
		p.text = strings.Split(shellword.Spaced(body), string(rune(shellword.Wild)))
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

// markStars puts [shellword.Wild] for each star that is a wildcard: not after a backslash or a
// colon.
func markStars(text string) (marked string, stars bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i++
		case text[i] == '*' && (i == 0 || text[i-1] != ':'):
			b.WriteByte(shellword.Wild)
			stars = true
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), stars
}

// pieces joins the words and splits them at the wildcards.
func (p *Pattern) pieces() []string {
	var b strings.Builder
	for i, w := range p.words {
		if i > 0 {
			b.WriteByte(shellword.Gap)
		}
		b.WriteString(w.Text)
	}
	return strings.Split(b.String(), string(shellword.Wild))
}

// head returns the words before the first wildcard, and the part of the wildcard's word before
// it. It reports false if the program could be one that runs others.
func (p *Pattern) head() (words []string, ok bool) {
	for i, w := range p.words {
		text, _, cut := strings.Cut(w.Text, string(shellword.Wild))
		if cut && i == 0 && (text == "" || runners.MayStart(text)) {
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

// Named reports whether the pattern names one program, without a wildcard.
func (p *Pattern) Named() bool {
	return len(p.words) > 0 && !strings.ContainsRune(p.words[0].Text, shellword.Wild)
}

// Open reports whether the pattern lets anything follow or stand between.
func (p *Pattern) Open() bool { return p.prefix || p.glob != nil }

// Allows reports whether an allow rule covers the words of a simple command. A wildcard
// stands for any words. A word in which the shell expands something is matched only by a
// wildcard, or by being written the same.
func (p *Pattern) Allows(words []shellword.Word) bool {
	if p.Compound || len(words) == 0 || !words[0].Literal {
		return false
	}
	return p.matches(words) && (!p.Open() || !runners.NeverByPrefix(words))
}

func (p *Pattern) matches(words []shellword.Word) bool {
	if p.glob != nil {
		return shellword.MatchPieces(p.glob, shellword.Join(words), p.prefix)
	}
	if len(words) < len(p.words) || len(words) > len(p.words) && !p.prefix {
		return false
	}
	for i := range p.words {
		if !allows(&p.words[i], words[i]) {
			return false
		}
	}
	return true
}

func allows(w *shellword.RuleWord, word shellword.Word) bool {
	if word.Literal {
		return !w.Expands && w.Text == word.Text
	}
	return w.Raw == word.Text
}

// Line is the words of a simple command, as deny and ask rules are compared with them.
type Line struct {
	Words []shellword.Word
	Fold  bool
	// text is the words in one string, made when a rule needs it.
	text string
}

func (l *Line) joined() string {
	if l.text == "" {
		l.text = shellword.Plain(l.Words)
		if l.Fold {
			l.text = paths.Fold(l.text)
		}
	}
	return l.text
}

// HoldsBack compares a deny or ask rule with the words of a command. May says that the rule
// could match once the shell has expanded a word.
func (p *Pattern) HoldsBack(l *Line) (match, may bool) {
	if p.Compound {
		return false, false
	}
	if p.glob != nil {
		return p.globHoldsBack(l)
	}
	words, fold := l.Words, l.Fold
	for i := range p.words {
		if i < len(words) && is(&p.words[i], words[i].Text, fold) {
			continue
		}
		if i == 0 && len(words) > 0 && names(&p.words[0], words[0].Text, fold) {
			continue
		}
		return false, shellword.HasExpansion(words[:min(i+1, len(words))])
	}
	if p.prefix || len(words) == len(p.words) {
		return true, false
	}
	return false, shellword.HasExpansion(words)
}

// is reports whether a word equals the rule's, with or without its quotes.
func is(w *shellword.RuleWord, text string, fold bool) bool {
	return w.Text == text || w.Raw == text || fold && strings.EqualFold(w.Text, text)
}

// names reports whether a word is the rule's program, in whatever directory.
func names(w *shellword.RuleWord, program string, fold bool) bool {
	a, b := path.Base(w.Text), path.Base(program)
	return a == b || fold && strings.EqualFold(a, b)
}

func (p *Pattern) globHoldsBack(l *Line) (match, may bool) {
	pieces := p.glob
	if l.Fold {
		pieces = foldAll(pieces)
	}
	if shellword.MatchPieces(pieces, l.joined(), p.prefix) {
		return true, false
	}
	i := slices.IndexFunc(l.Words, func(w shellword.Word) bool { return !w.Literal })
	if i < 0 {
		return false, false
	}
	// The words before the first expansion must not contradict the rule.
	known := Line{Words: l.Words[:i], Fold: l.Fold}
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

// IsText reports whether the rule is a whole command's text.
func (p *Pattern) IsText(text string) bool {
	return p.whole != "" && p.whole == strings.TrimSpace(text)
}

// HoldsBackText compares a deny or ask rule that is [Pattern.Compound] with the text of a
// whole command, however it is spaced and whatever stands before and after.
func (p *Pattern) HoldsBackText(text string, fold bool) bool {
	if text = shellword.Spaced(text); fold {
		text = paths.Fold(text)
		p = &Pattern{text: foldAll(p.text), prefix: p.prefix}
	}
	for {
		if p.startsWith(text) {
			return true
		}
		next := strings.IndexByte(text, shellword.Gap)
		if next < 0 || p.text[0] == "" {
			return false // a pattern that starts with a wildcard was tried everywhere at once
		}
		text = text[next+1:]
	}
}

// startsWith reports whether a text starts with the pieces, and ends there or goes on with
// an operator. With a wildcard or after a prefix it may go on with anything: better to match
// too much than too little.
func (p *Pattern) startsWith(text string) bool {
	rest, ok := strings.CutPrefix(text, p.text[0])
	for _, piece := range p.text[1:] {
		if ok {
			_, rest, ok = strings.Cut(rest, piece)
		}
	}
	if !ok || rest == "" || len(p.text) > 1 {
		return ok
	}
	return rest[0] == shellword.Gap && (p.prefix || shellword.IsOperator(rune(rest[1])))
}

// OverBroad reports whether an allow rule comes to allowing any command at all, or an
// interpreter or package runner with whatever arguments.
func (p *Pattern) OverBroad() bool {
	if !p.Open() || p.Compound {
		return false
	}
	words, ok := p.head()
	return !ok || runners.AnyCommand(words)
}

// OnlyRunners reports whether every command that the pattern matches is one that no rule
// with a wildcard allows.
func (p *Pattern) OnlyRunners() bool {
	words, ok := p.head()
	return ok && len(words) > 0 && runners.Runs(words) && (p.prefix || len(words) > 1)
}

// Program is the first word of the rule, as it was written.
func (p *Pattern) Program() string { return p.words[0].Raw }
