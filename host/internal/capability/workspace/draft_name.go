package workspace

import (
	"crypto/rand"
	"strings"
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

// IsTemporary reports whether a name is one that tempName makes: a killed host may have left the
// file behind.
func IsTemporary(name string) bool {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	random := len(rand.Text())
	return ok && len(rest) > random && rest[random] == '-'
}

// TemporaryName returns an unused random name for a file that is later renamed to base.
func TemporaryName(base string) string { return tempName(base) }
