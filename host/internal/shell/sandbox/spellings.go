package sandbox

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names that volumes of macOS take for others: letters of other alphabets for ASCII ones, and
// ligatures for several.
var (
	alsoLetters   = map[byte]string{'k': "\u212a", 's': "\u017f"}
	alsoLigatures = []ligature{
		{"ffi", "\ufb03"}, {"ffl", "\ufb04"}, {"ff", "\ufb00"}, {"fi", "\ufb01"}, {"fl", "\ufb02"}, {"ss", "\u00df|\u1e9e"}, {"st", "\ufb05|\ufb06"},
	}
)

// ligature is one letter, or several by |, that stand for a text.
type ligature struct{ text, ligatures string }

// folded begins an expression for the spellings of a path: such volumes fold case and forms
// of Unicode. Of what is not ASCII it takes other text of that kind too: it is for what is denied.
func folded(p string) string {
	// Each character may be several, of which the first is a letter of ASCII.
	const foreign = "([a-zA-Z]?[^ -~/])+"
	var b strings.Builder
	b.WriteByte('^')
	for i := 0; i < len(p); {
		run := letters(p[i:])
		if next, _ := utf8.DecodeRuneInString(p[i+run:]); run > 0 && unicode.Is(unicode.M, next) {
			run-- // it marks the last letter
		}
		switch foreigners := foreignText(p[i+run:]); {
		case run > 0:
			b.WriteString(spellings(p[i : i+run]))
			i += run
		case foreigners > 0:
			b.WriteString(foreign)
			i += foreigners
		case strings.IndexByte(`\^[]`, p[i]) >= 0: // these mean something between brackets too
			b.WriteString("[^a-zA-Z0-9/]")
			i++
		case p[i] == '/':
			b.WriteByte('/')
			i++
		default:
			b.WriteString("[" + p[i:i+1] + "]")
			i++
		}
	}
	return b.String()
}

// foreignText is the length of what a text begins with that is not ASCII, with a letter before it
// that it marks; characters that are not printed are of that kind.
func foreignText(text string) int {
	n := min(letters(text), 1)
	for n < len(text) && (text[n] < ' ' || text[n] > '~') {
		n++
	}
	if n == 1 && letters(text) > 0 {
		return 0
	}
	return n
}

// letters is the length of the ASCII letters that a text begins with.
func letters(text string) int {
	return len(text) - len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}

// spellings is an expression for those of ASCII letters. Where ligatures could overlap it is
// one for anything.
func spellings(text string) string {
	var b strings.Builder
	for text = strings.ToLower(text); text != ""; {
		run := len(text) - len(strings.TrimLeft(text, "filst"))
		at := slices.IndexFunc(alsoLigatures, func(l ligature) bool { return strings.HasPrefix(text, l.text) })
		switch {
		case at < 0:
			run = 1
			b.WriteString(letterSpellings(text[:1]))
		case run == len(alsoLigatures[at].text):
			b.WriteString("(" + letterSpellings(text[:run]) + "|" + alsoLigatures[at].ligatures + ")")
		default:
			b.WriteString("[^/]+")
		}
		text = text[run:]
	}
	return b.String()
}

// letterSpellings is an expression for those of small letters, one by one.
func letterSpellings(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		both := string([]byte{c, c - 'a' + 'A'})
		if also := alsoLetters[c]; also != "" {
			b.WriteString("([" + both + "]|" + also + ")")
		} else {
			b.WriteString("[" + both + "]")
		}
	}
	return b.String()
}
