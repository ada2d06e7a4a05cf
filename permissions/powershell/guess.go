package powershell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/shell"
)

// The bounds of guessing.
const (
	// maxGuesses is how many parts are made. Past them a person is asked, as a deny rule
	// might have spoken of what was not looked at.
	maxGuesses = 10_000
	// maxJudged is how many of them have their accesses found out, and maxNamed how many
	// words are taken for paths.
	maxJudged = 200
	maxNamed  = 2_000
	// longGuess is how many words a part has at most that does not start where a command
	// may start.
	longGuess = 8
)

const guessed = "it is a guess at a command that is not understood"

// guesser takes a text for what it may be, on behalf of deny and ask rules: words
// between blanks, operators and brackets, quotes and backticks taken off, and from
// every word on a command. There are too many of them, not too few.
type guesser struct {
	analysis
	run   []permissions.Word
	text  []byte
	named []permissions.Access
}

// guesses are the commands that may be in a text, and the files it may name.
func guesses(text string, at Place) []permissions.Part {
	g := guesser{analysis: analysis{at: at}}
	if at.Cwd != "" {
		g.dirs = []string{at.Cwd}
	}
	for _, r := range text {
		g.letter(plainer(r))
	}
	g.flush()
	if len(g.parts) >= maxGuesses || len(g.named) >= maxNamed {
		g.parts = append(g.parts, permissions.Part{
			Inner: true, Reason: guessed, Ask: "there is more of it than can be looked through", Critical: true,
		})
	}
	return append(g.parts, permissions.Part{Inner: true, Reason: guessed, Accesses: g.named})
}

func (g *guesser) letter(r rune) {
	switch r {
	case ' ', '\t', '\r', ',':
		g.word()
	case '\n', ';', '&', '|', '(', ')', '{', '}', '=', '<', '>', '[', ']', '@', '#', '!':
		g.flush()
	case '\'', '"', '`':
	default:
		if !shell.Hides(r) {
			g.text = utf8.AppendRune(g.text, r)
		}
	}
}

func (g *guesser) word() {
	if len(g.text) == 0 {
		return
	}
	text := string(g.text)
	g.text = g.text[:0]
	g.run = append(g.run, permissions.Word{Text: text, Literal: !strings.Contains(text, "$")})
	if len(g.named) < maxNamed {
		found, _ := g.accesses(text, true, permissions.Access{Kind: permissions.AccessRead})
		for _, access := range found {
			access.Tree = false
			g.named = append(g.named, access)
		}
	}
}

// flush ends a command.
func (g *guesser) flush() {
	g.word()
	for i := range g.run {
		if len(g.parts) >= maxGuesses {
			break
		}
		end := len(g.run)
		if i > 0 {
			end = min(end, i+longGuess)
		}
		g.guess(slices.Clip(g.run[i:end]))
	}
	g.run = nil
}

// guess adds the part of a command, and those of its further names.
func (g *guesser) guess(words []permissions.Word) {
	p := permissions.Part{Words: words, Inner: true, Reason: guessed}
	if len(g.parts) < maxJudged {
		var s simple
		for _, w := range words {
			s.args = append(s.args, []token{{text: w.Text, literal: w.Literal}})
		}
		p.Accesses, p.Unknown = g.effects(&s)
		g.parts = append(g.parts, p)
		first := len(g.parts)
		g.native(&s, first-1)
		for i := first; i < len(g.parts); i++ {
			g.parts[i].Inner = true
		}
	} else {
		g.parts = append(g.parts, p)
	}
	if !words[0].Literal {
		return
	}
	for _, name := range meanings(words[0].Text) {
		g.parts = append(g.parts, permissions.Part{Words: renamed(words, name), Inner: true, Reason: guessed})
	}
}
