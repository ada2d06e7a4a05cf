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

// TemporaryFor returns the name of the file for which tempName made a name, and "" if tempName did
// not make it: a killed host may have left the file behind. A long name is cut.
func TemporaryFor(name string) string {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	random := len(rand.Text())
	if !ok || len(rest) <= random || rest[random] != '-' {
		return ""
	}
	return rest[random+1:]
}

// TemporaryName returns an unused random name for a file that is later renamed to base.
func TemporaryName(base string) string { return tempName(base) }
