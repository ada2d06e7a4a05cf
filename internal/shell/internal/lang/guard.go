package lang

import "unicode/utf8"

const (
	// maxScript is the longest script that is looked at, in bytes.
	maxScript = 10_000
	// maxDepth bounds how deep a script may nest.
	maxDepth = 100
)

// guard says why a script is not to be looked at, or is empty. It refuses what
// makes programs read a script as other characters than these: bytes that are
// not text, control characters, and a backslash behind a character that is not
// ASCII (in some character sets a backslash is the second half of one).
func guard(script string) string {
	if len(script) > maxScript {
		return "it is longer than 10000 bytes"
	}
	if !utf8.ValidString(script) {
		return "it is not UTF-8"
	}
	for i := range len(script) {
		c := script[i]
		switch {
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return "it holds a control character"
		case c == '\\' && i > 0 && script[i-1] >= utf8.RuneSelf:
			return "a backslash follows a character that is not ASCII"
		}
	}
	return ""
}

// refused is a finding that is not read-only.
func refused(reason string) Finding { return Finding{Reason: reason} }
