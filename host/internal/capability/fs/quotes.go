package fs

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// The curly quotes are U+2018, U+2019, U+201C and U+201D: in UTF-8 three bytes, of
// which the first is curlyLead.
const (
	curlyLead = 0xe2
	curlySize = 3

	openSingle, closeSingle = '\u2018', '\u2019'
	openDouble, closeDouble = '\u201c', '\u201d'
)

// straighten returns the straight quote for the curly one that a text begins with.
func straighten(text []byte) (byte, bool) {
	if len(text) < curlySize || text[0] != curlyLead || text[1] != 0x80 {
		return 0, false
	}
	switch text[2] {
	case 0x98, 0x99:
		return '\'', true
	case 0x9c, 0x9d:
		return '"', true
	}
	return 0, false
}

// hasQuotes reports whether a text has a quote of either kind.
func hasQuotes(text []byte) bool { return bytes.ContainsAny(text, "'\"\u2018\u2019\u201c\u201d") }

// quoteStyle is how a place of a file writes each kind of quote.
type quoteStyle struct{ single, double bool } // curly, else straight

// styleOf tells how a text writes quotes: as most of a kind are, curly where there are
// as many of both.
func styleOf(text []byte) quoteStyle {
	s := string(text)
	count := func(set string) (n int) {
		for _, r := range set {
			n += bytes.Count([]byte(s), []byte(string(r)))
		}
		return n
	}
	singles, doubles := count("\u2018\u2019"), count("\u201c\u201d")
	return quoteStyle{
		single: singles > 0 && singles >= count("'"),
		double: doubles > 0 && doubles >= count(`"`),
	}
}

// apply writes the straight quotes of a text as the style has them. Before is the
// character before the text, 0 where there is none, and after the one behind it.
func (s quoteStyle) apply(text []byte, before, after rune) []byte {
	out := make([]byte, 0, len(text))
	for i, r := range string(text) {
		next := after
		if i+1 < len(text) {
			next, _ = utf8.DecodeRune(text[i+1:])
		}
		switch {
		case r == '\'' && s.single:
			r = curly(before, next, openSingle, closeSingle)
		case r == '"' && s.double:
			r = curly(before, next, openDouble, closeDouble)
		}
		out = utf8.AppendRune(out, r)
		before = r
	}
	return out
}

// curly tells an opening quote from a closing one, and from an apostrophe, which looks
// like the closing one. One opens that has nothing, space, a dash or an opening
// bracket or quote before it, and does not have space or nothing behind it. What stands
// before digits, as in '90s, is taken for an apostrophe.
func curly(before, after, opening, closing rune) rune {
	switch {
	case after == 0 || unicode.IsSpace(after):
		return closing
	case opening == openSingle && unicode.IsDigit(after):
		return closing
	case before == 0 || unicode.IsSpace(before) || unicode.In(before, unicode.Ps, unicode.Pi, unicode.Pd):
		return opening
	}
	return closing
}
