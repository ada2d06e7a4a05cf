package workspace

import (
	"crypto/rand"
	"unicode/utf8"
)

// The names of files that a killed host leaves behind begin with tempPrefix and end
// with the name of the file they were for, of which tempBase bytes are enough.
const (
	tempPrefix = ".toolquay-"
	tempBase   = 128
)

// tempName makes a name that nothing has.
func tempName(base string) string {
	if len(base) > tempBase {
		cut := tempBase
		for cut > tempBase-utf8.UTFMax && !utf8.RuneStart(base[cut]) {
			cut--
		}
		base = base[:cut]
	}
	return tempPrefix + rand.Text() + "-" + base
}
