package changes

import (
	"fmt"
	"strings"
)

// escapes maps the bytes that have an escape letter to that letter.
var escapes = map[byte]byte{
	'\a': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\',
}

// quoted returns a name as git writes it by default: in quotes, with the escapes of C, if it has
// a quote, a backslash, a control character or a byte that is not ASCII. So a patch means the
// same names in every encoding.
func quoted(name string) string {
	if strings.IndexFunc(name, isOdd) < 0 {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		c := name[i]
		letter, ok := escapes[c]
		switch {
		case ok:
			b.WriteByte('\\')
			b.WriteByte(letter)
		case isOdd(rune(c)):
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func isOdd(r rune) bool { return r < ' ' || r >= 0x7f || r == '"' || r == '\\' }
