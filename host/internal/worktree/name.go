package worktree

import (
	"math/rand/v2"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// MaxName is the longest name of a worktree, in characters.
const MaxName = 64

// branches is what the names of branches begin with.
const branches = "worktree/"

// CheckName refuses a name that is none. Its parts, between slashes, have letters, digits, dots,
// underscores and dashes, and are such that git takes them as parts of a branch: see
// git-check-ref-format(1).
func CheckName(name string) error {
	if len(name) > MaxName {
		return abi.Errorf(abi.CodeInvalidInput, "the name has %d characters; it has at most %d", len(name), MaxName)
	}
	for part := range strings.SplitSeq(name, "/") {
		if why := faultOf(part); why != "" {
			return abi.Errorf(abi.CodeInvalidInput, "the name %.80q cannot be one of a worktree: %s; write one like fix-login or fix/login, of letters, digits, dots, underscores and dashes", name, why)
		}
	}
	return nil
}

// faultOf is what is wrong with a part of a name; empty is nothing.
func faultOf(part string) string {
	plain := func(r rune) bool {
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("._-", r)
	}
	switch {
	case part == "":
		return "a part of it is empty"
	case strings.ContainsFunc(part, func(r rune) bool { return !plain(r) }):
		return "it has other characters"
	case part[0] == '.' || part[0] == '-':
		return "a part of it begins with a dot or a dash"
	case strings.HasSuffix(part, ".") || strings.Contains(part, ".."):
		return "a part of it has dots where git takes none"
	case strings.EqualFold(part[max(0, len(part)-len(".lock")):], ".lock"):
		return "a part of it ends with .lock"
	}
	return ""
}

// randomName is a name that a person can say.
func randomName() string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for i := range 6 {
		if i == 3 {
			b.WriteByte('-')
		}
		b.WriteByte(consonants[rand.IntN(len(consonants))])
		b.WriteByte(vowels[rand.IntN(len(vowels))])
	}
	return b.String()
}

// flat is a name as one of a directory: no name has a plus sign.
func flat(name string) string { return strings.ReplaceAll(name, "/", "+") }
