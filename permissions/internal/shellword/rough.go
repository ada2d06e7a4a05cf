package shellword

import "strings"

// The bounds on commands that could not be parsed.
const (
	// MaxRough is the longest command, in bytes, that is split so. A longer one asks in
	// every mode where there are deny or ask rules.
	MaxRough = 64 << 10
	// RoughWindow is how many words after a program such rules are tried on.
	RoughWindow = 64
)

// Rough splits a command that could not be parsed: at every operator, then into words, with
// quotes and backslashes taken out. Deny and ask rules are tried on the words; splitting too
// much only makes them match more.
func Rough(text string) [][]Word {
	var out [][]Word
	for _, piece := range strings.FieldsFunc(strings.Map(dropHidden, text), IsOperator) {
		var words []Word
		for _, field := range strings.FieldsFunc(piece, isBlank) {
			if field = roughQuotes.Replace(field); field != "" {
				words = append(words, Word{Text: field, Literal: true})
			}
		}
		if len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

var roughQuotes = strings.NewReplacer(`"`, "", `'`, "", `\`, "", "$", "")

// dropHidden drops characters that a shell or a person does not see.
func dropHidden(r rune) rune {
	switch {
	case r == 0, r == 0xad, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
