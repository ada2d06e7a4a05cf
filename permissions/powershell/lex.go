package powershell

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	wordToken kind = iota
	// endToken ends a pipeline: ; && || and a new line.
	endToken
	pipeToken
	commaToken
	// redirectToken sends a stream to the file that the next word names; mergeToken
	// sends it where another one goes.
	redirectToken
	mergeToken
)

type token struct {
	kind kind
	// text is a word with its quotes taken off, else the token as written.
	text string
	// literal says that nothing in the word is expanded; quoted that it is a string, and
	// so never a command, a parameter or a number.
	literal, quoted bool
	// newline says that an endToken is a new line.
	newline bool
	at      int
}

// oddity is the first thing in a text that is not understood.
type oddity struct {
	at  int
	why string
}

// lexed is a text taken apart, as far as it is understood.
type lexed struct {
	tokens []token
	odd    oddity
	// fault says that the text cannot end as it does.
	fault string
}

// lexer takes a text apart that has passed guard.
type lexer struct {
	text string
	at   int
	lexed
}

func lex(text string) *lexed {
	l := lexer{text: text}
	for l.at < len(text) && l.odd.why == "" && l.fault == "" {
		l.next()
	}
	return &l.lexed
}

func (l *lexer) rest() string { return l.text[l.at:] }

func (l *lexer) oddHere(why string) {
	if l.odd.why == "" {
		l.odd = oddity{l.at, why}
	}
}

// take adds a token of so many bytes.
func (l *lexer) take(k kind, n int) {
	l.tokens = append(l.tokens, token{kind: k, text: l.rest()[:n], at: l.at})
	l.at += n
}

// next reads one token. What about_Special_Characters and about_Operators give a
// meaning that is not known here is odd.
func (l *lexer) next() {
	rest := l.rest()
	if n := redirection(rest); n > 0 {
		l.redirect(n)
		return
	}
	switch c := rest[0]; {
	case c == ' ' || c == '\t':
		l.at++
	case c == '\n':
		l.take(endToken, 1)
		l.tokens[len(l.tokens)-1].newline = true
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		l.take(endToken, 2)
	case c == ';':
		l.take(endToken, 1)
	case c == '|':
		l.take(pipeToken, 1)
	case c == ',':
		l.take(commaToken, 1)
	case c == '\'' || c == '"':
		l.quoted()
	case c == '$':
		l.variable()
	default:
		l.bare()
	}
}

// redirection is the length of a redirection's operator with the stream before it, or
// 0: >, >>, 2>, *>, and their like (about_Redirection).
func redirection(rest string) int {
	n := 0
	if c := rest[0]; c >= '1' && c <= '6' || c == '*' {
		n = 1
	}
	if n == len(rest) || rest[n] != '>' {
		return 0
	}
	if n++; n < len(rest) && rest[n] == '>' {
		n++
	}
	return n
}

// redirect takes a redirection: 2>&1 is whole.
func (l *lexer) redirect(n int) {
	rest := l.rest()
	if n == len(rest) || rest[n] != '&' {
		l.take(redirectToken, n)
		return
	}
	if n+1 == len(rest) || rest[n+1] != '1' || !ends(rest[n+2:]) || rest[n-1] == '>' && n > 1 && rest[n-2] == '>' {
		l.oddHere("it merges streams in an unknown way")
		return
	}
	l.take(mergeToken, n+2)
}

// ends reports whether a word can end before this text.
func ends(rest string) bool { return rest == "" || strings.IndexByte(" \t\n;|,&>", rest[0]) >= 0 }

// add adds a word that was read up to end, where a word can end.
func (l *lexer) add(w token, end int) {
	w.at, w.kind = l.at, wordToken
	if !ends(l.text[end:]) {
		l.oddHere("a word is put together of several pieces")
		return
	}
	l.tokens = append(l.tokens, w)
	l.at = end
}

// quoted reads '...' or "...", in which the quote is doubled (about_Quoting_Rules).
// In the second, variables are expanded and backticks escape.
func (l *lexer) quoted() {
	quote := rune(l.text[l.at])
	expands := quote == '"'
	w := token{literal: true, quoted: true}
	var b strings.Builder
	for i := l.at + 1; i < len(l.text); {
		r, n := utf8.DecodeRuneInString(l.text[i:])
		switch {
		case disguised(r):
			l.oddHere("there is a quote or dash outside of ASCII, which PowerShell takes for one")
			return
		case r == '`' && expands:
			l.oddHere("a backtick changes what the next character means")
			return
		case r == '$' && expands:
			if n = variable(l.text[i:]); n == 0 {
				l.oddHere("something is computed in a string")
				return
			}
			w.literal = false
		case r == quote && strings.HasPrefix(l.text[i+1:], string(quote)):
			i++ // one of them stands
		case r == quote:
			w.text = b.String()
			l.add(w, i+1)
			return
		}
		b.WriteString(l.text[i : i+n])
		i += n
	}
	l.fault = "a quote is not closed" + place(l.text, l.at)
}

// variable reads $name, by itself or before a path.
func (l *lexer) variable() {
	n := variable(l.rest())
	if n == 0 {
		l.oddHere("something is computed")
		return
	}
	end := l.at + n
	if rest := l.text[end:]; rest != "" && (rest[0] == '/' || rest[0] == '\\') {
		end += bareLength(rest)
	}
	l.add(token{text: l.text[l.at:end]}, end)
}

// variable is the length of $name or $env:name at the start of a text, or 0. Other
// variables with a colon are read from a provider, which may be a file's content
// (about_Variables, about_Scopes).
func variable(text string) int {
	name := func(from int) int {
		n := from
		for n < len(text) && isNameByte(text[n]) {
			n++
		}
		return n
	}
	n := name(1)
	switch {
	case n == 1:
		return 0
	case n == len(text) || text[n] != ':':
		return n
	}
	if !strings.EqualFold(text[1:n], "env") || name(n+1) == n+1 {
		return 0
	}
	if n = name(n + 1); n < len(text) && text[n] == ':' {
		return 0
	}
	return n
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// bare reads a word without quotes. Brackets, @, #, !, < and the rest of what may have
// a meaning in some place are odd wherever they stand.
func (l *lexer) bare() {
	n := bareLength(l.rest())
	word := l.rest()[:n]
	switch {
	case n == 0:
		r, _ := utf8.DecodeRuneInString(l.rest())
		l.oddHere("it is not understood from `" + string(r) + "` on")
	case word == "--%":
		l.oddHere("behind `--%` words are read in another way")
	case strings.Contains(word, "::"):
		l.oddHere("`::` reaches into a type or a provider")
	default:
		l.add(token{text: word, literal: true}, l.at+n)
	}
}

func bareLength(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !isBare(r) {
			break
		}
		n += size
	}
	return n
}

func isBare(r rune) bool {
	if r < utf8.RuneSelf {
		return isNameByte(byte(r)) || strings.IndexByte(`-./\:*?~+%^=`, byte(r)) >= 0
	}
	return unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc)
}
