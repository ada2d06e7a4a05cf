package tasks

import (
	"crypto/rand"
	"strings"
)

// kinds are what the first letters of ids stand for. The letters w, m and d are
// reserved.
var kinds = map[byte]string{
	'a': "agent",
	'b': "bash",
	'r': "remote_agent",
	't': "teammate",
}

const (
	digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	// idDigits is how many follow the letter.
	idDigits = 8
)

// newID makes an id. Ids are not guessed: whoever reads one in the output of another
// session can do nothing with it.
func newID(kind byte) string {
	const fair = 256 - 256%len(digits) // bytes from here on would favour the first digits
	id := append(make([]byte, 0, 1+idDigits), kind)
	var random [2 * idDigits]byte
	for {
		_, _ = rand.Read(random[:]) // it never fails
		for _, b := range random {
			if int(b) >= fair {
				continue
			}
			if id = append(id, digits[int(b)%len(digits)]); len(id) == cap(id) {
				return string(id)
			}
		}
	}
}

// isID reports whether a text is an id.
func isID(text string) bool {
	return len(text) == 1+idDigits && kinds[text[0]] != "" && strings.Trim(text[1:], digits) == ""
}
