package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shown reports whether a character shows as itself. What does not is control
// characters (C0 and C1), what changes the direction of text, and everything
// that takes no room: hidden text that a person approves and a model reads.
func shown(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= ' ' && r != 0x7f
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), r == '\u2800':
		return false
	}
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

// Text makes a text of several lines safe to show. Line ends and tabs stay;
// what does not show as itself is written as \x1b, \u202e or \U000e0041.
func Text(s string) string { return escape(s, "\n\t") }

// Line makes a text safe to show in one line.
func Line(s string) string { return escape(s, "") }

func escape(s, keep string) string {
	start := 0
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		broken := r == utf8.RuneError && size == 1
		if !broken && (shown(r) || strings.ContainsRune(keep, r)) {
			i += size
			continue
		}
		b.WriteString(s[start:i])
		b.WriteString(escaped(s[i], r, broken))
		i += size
		start = i
	}
	if start == 0 {
		return s
	}
	b.WriteString(s[start:])
	return b.String()
}

func escaped(first byte, r rune, broken bool) string {
	switch {
	case broken:
		return fmt.Sprintf(`\x%02x`, first)
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// JSON makes a JSON document safe to show and leaves its meaning alone: outside
// of strings JSON has nothing to escape, and inside them \u escapes mean the
// same character.
func JSON(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		switch {
		case shown(r), r == '\n', r == '\t', r == '\r':
			out = append(out, doc[i:i+size]...)
		case r >= 0x10000:
			hi, lo := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}
