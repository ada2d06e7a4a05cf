package shell

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
	"github.com/toolquay/toolquay/permissions"
)

// The bounds of guessing.
const (
	// maxGuesses is how many parts are made. Past them a person is asked, as a
	// deny rule might have spoken of what was not looked at.
	maxGuesses = 10_000
	// maxJudged is how many of them have their accesses found out.
	maxJudged = 500
	// longGuess is how many words a part has at most that does not start where a
	// command may start.
	longGuess = 8
	// longRun is how many words are taken for one command.
	longRun = MaxBytes / 2
)

// guesser takes a text that cannot be parsed for what it may be, on behalf of
// deny and ask rules: words between blanks and operators, quotes and backslashes
// taken off, and from every word on a command. There are too many of them, not
// too few.
type guesser struct {
	a     *analysis
	state state
	parts []permissions.Part
	run   []permissions.Word
	text  []byte
	// braces says that a comma parts words, and file that the next word is a
	// redirection's.
	braces, file bool
	// known says that the command can be parsed, and that its parts have been added:
	// a word with a $ is no guess then.
	known bool
}

// guesses are the commands that may be in a text.
func guesses(text string, at Place) []permissions.Part { return guessAll(text, at, false) }

// guessAll is guesses, for a command that can be parsed, too.
func guessAll(text string, at Place, known bool) []permissions.Part {
	g := guesser{known: known, a: &analysis{text: text, at: at, wires: &wires{strict: true}}}
	if at.Cwd != "" {
		g.state.dirs = []string{at.Cwd}
	}
	for _, r := range text {
		if len(g.parts) >= maxGuesses {
			return append(g.parts, permissions.Part{
				Inner: true, Reason: guessed,
				Ask: "there is more of it than can be looked through", Critical: true,
			})
		}
		g.letter(r)
	}
	g.flush()
	return g.parts
}

const guessed = "it is a guess at a command that cannot be parsed"

func (g *guesser) letter(r rune) {
	switch r {
	case ' ', '\t', '\r':
		g.word()
	case '<', '>':
		g.flush()
		g.file = true
	case '\n', ';', '&', '|', '(', ')', '`':
		g.flush()
	case '{', '}':
		g.flush()
		g.braces = r == '{'
	case '\'', '"':
		if n := len(g.text); n > 0 && g.text[n-1] == '$' {
			g.text = g.text[:n-1]
		}
	case '\\':
	default:
		if r == ',' && g.braces {
			g.word()
		} else if !Hides(r) {
			g.text = utf8.AppendRune(g.text, r)
		}
	}
}

// word ends a word.
func (g *guesser) word() {
	if len(g.text) == 0 {
		return
	}
	w := permissions.Word{Text: string(g.text)}
	w.Literal = g.known || !strings.Contains(w.Text[:len(w.Text)-1], "$")
	g.text = g.text[:0]
	if g.run = append(g.run, w); len(g.run) >= longRun {
		defer g.flush()
	}
	if g.file {
		g.file = false
		p := permissions.Part{Inner: true, Reason: guessed}
		for _, kind := range []permissions.AccessKind{permissions.AccessRead, permissions.AccessWrite} {
			found, _ := g.a.accesses(programs.Effect{Kind: kind, Name: w.Text}, nil, &g.state)
			p.Accesses = append(p.Accesses, found...)
		}
		g.parts = append(g.parts, p)
	}
}

// flush ends a command.
func (g *guesser) flush() {
	g.word()
	if len(g.run) == 0 {
		return
	}
	for i, w := range g.run {
		if len(g.parts) >= maxGuesses {
			break
		}
		end := len(g.run)
		if i > 0 {
			end = min(end, i+longGuess)
		}
		g.add(g.run[i:end:end])
		if base := path.Base(w.Text); base != w.Text {
			g.add(append([]permissions.Word{{Text: base, Literal: w.Literal}}, g.run[i+1:max(i+1, end)]...))
		}
	}
	g.run = nil
}

func (g *guesser) add(words []permissions.Word) {
	p := permissions.Part{Words: words, Inner: true, Reason: guessed}
	if len(g.parts) < maxJudged {
		args := make([]programs.Arg, min(len(words), longGuess))
		for i := range args {
			args[i] = programs.Arg{Text: words[i].Text, Literal: words[i].Literal}
		}
		found := programs.Judge(args)
		if found.AnyHost {
			p.Unknown = permissions.UnknownHost
		}
		for _, e := range found.Effects {
			if e.Held {
				p.Hosts = append(p.Hosts, e.Name)
				continue
			}
			list, _ := g.a.accesses(e, nil, &g.state)
			p.Accesses = append(p.Accesses, list...)
		}
	}
	g.parts = append(g.parts, p)
}
