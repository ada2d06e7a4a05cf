package ui

import (
	"fmt"
	"unicode/utf8"

	"github.com/toolquay/toolquay/internal/visible"
)

// Text makes a text of several lines safe to show, as [visible.Text] does.
func Text(s string) string { return visible.Text(s) }

// Line makes a text safe to show in one line, as [visible.Line] does.
func Line(s string) string { return visible.Line(s) }

// JSON makes a JSON document safe to show and leaves its meaning alone: outside
// of strings JSON has nothing to escape, and inside them \u escapes mean the
// same character.
func JSON(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		switch {
		case visible.Rune(r), r == '\n', r == '\t', r == '\r':
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
