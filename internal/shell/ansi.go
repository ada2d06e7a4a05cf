package shell

import (
	"strings"
	"unicode/utf8"
)

// ansiEscapes are the single letters after a backslash in $'...'.
var ansiEscapes = map[byte]byte{
	'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ansi decodes the text of $'...'. It reports false for what depends on the
// locale or the version of bash: NULs, characters past ASCII, \c, and escapes
// that are none.
func ansi(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		if c, ok := ansiEscapes[s[i]]; ok {
			b.WriteByte(c)
			continue
		}
		value, used := ansiNumber(s[i:])
		if used == 0 || value == 0 || value >= utf8.RuneSelf {
			return "", false
		}
		b.WriteByte(byte(value))
		i += used - 1
	}
	return b.String(), true
}

// ansiNumber reads what follows a backslash: nnn, xHH, uHHHH, UHHHHHHHH. It
// returns how many bytes it used, none if it is no number.
func ansiNumber(s string) (value, used int) {
	base, from := 16, 1
	most := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if most == 0 {
		base, most, from = 8, 3, 0
	}
	used = from
	for used < len(s) && used < from+most {
		digit := strings.IndexByte("0123456789abcdef", s[used]|0x20)
		if s[used] <= '9' {
			digit = int(s[used]) - '0'
		}
		if digit < 0 || digit >= base {
			break
		}
		value, used = value*base+digit, used+1
	}
	if used == from {
		return 0, 0
	}
	return value, used
}
