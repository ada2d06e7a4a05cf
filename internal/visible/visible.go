// Package visible makes texts of strangers safe to show: no character of theirs can
// control a terminal, hide text, turn its direction, or begin a line that looks like one
// of the host's own.
package visible

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rune reports whether a character shows as itself. Those that do not are control
// characters (C0 and C1), characters that change the direction of text, and characters
// that take no room, which hide text from a person that a model reads.
func Rune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= ' ' && r != 0x7f
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), r == '\u2800':
		return false
	}
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

// Text makes a text of several lines safe to show. Line ends and tabs stay; other
// characters that do not show as themselves are written as \x1b, \u202e or \U000e0041.
func Text(s string) string { return escape(s, "\n\t") }

// Line makes a text safe to show in one line.
func Line(s string) string { return escape(s, "") }

// Short is Line for the first bytes of a text, at most so many; what was cut is told
// by "...".
func Short(s string, most int) string { return Line(cut(s, most)) }

// maxName bounds what [Name] shows of a name, in bytes.
const maxName = 80

// Name quotes a name, and cuts it where it is long.
func Name(s string) string { return Quote(s, maxName) }

// Quote quotes the first bytes of a text, at most so many.
func Quote(s string, most int) string {
	if len(s) <= most {
		return Line(strconv.Quote(s))
	}
	return Line(strconv.Quote(strings.TrimSuffix(cut(s, most), more))) + more
}

// more stands for what was cut.
const more = "..."

// cut cuts a text at the beginning of a character, if one begins within the last bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for back := range min(utf8.UTFMax, most) {
		if utf8.RuneStart(s[most-back]) {
			return s[:most-back] + more
		}
	}
	return s[:most] + more
}

func escape(s, keep string) string {
	start := 0
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		broken := r == utf8.RuneError && size == 1
		if !broken && (Rune(r) || strings.ContainsRune(keep, r)) {
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
