package changes

import (
	"fmt"
	"strings"
)

// escapes are the bytes that have a letter in the names of a patch.
var escapes = map[byte]byte{
	'\a': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\',
}

// quoted writes a name as git does where nothing else is set: a name with a byte that
// could be taken for something else, or that is not ASCII, stands in quotes as in C. So
// a patch means the same names in every encoding.
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
