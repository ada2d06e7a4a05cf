package shellword

import (
	"slices"
	"strings"
)

// Word is one word of a simple command.
type Word struct {
	// Text is what the program gets, if Literal is set; else the word as it was written.
	Text string
	// Literal says that nothing in the word is expanded.
	Literal bool
}

// HasExpansion reports whether the shell would expand something in one of the words.
func HasExpansion(words []Word) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return !w.Literal })
}

// IsAssignment reports whether a word sets a variable.
func IsAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, NameLetters) == ""
}

// IsOperator reports whether a character ends a simple command or redirects it, to some
// shell.
func IsOperator(r rune) bool { return strings.ContainsRune(operators+"\r`{}", r) }

// isBlank reports whether some shell could take the character for a blank.
func isBlank(r rune) bool {
	return r <= ' ' || r >= 0x7f && r <= 0xa0 || r >= 0x2000 && r <= 0x200a ||
		r == 0x2028 || r == 0x2029 || r == 0x202f || r == 0x205f || r == 0x3000
}

// NameLetters are the characters of a variable's name.
const NameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
