package skills

import (
	"strings"
)

// whole is what stands for all arguments.
const whole = "$ARGUMENTS"

// fill puts arguments in the place of $ARGUMENTS and, in a command, of $1 to $9: texts of skills have
// those in code for shells and awk. What is put in is not looked through again. Where a text has a
// place for none, they follow it.
func fill(text, args string, positions bool) string {
	var b strings.Builder
	words, filled := []string(nil), false
	if positions {
		words = Words(args)
	}
	for {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			break
		}
		switch after, isWhole := strings.CutPrefix(rest, whole[1:]); {
		case isWhole:
			b.WriteString(args)
			text, filled = after, true
		case positions && rest != "" && rest[0] >= '1' && rest[0] <= '9' && (len(rest) == 1 || rest[1] < '0' || rest[1] > '9'):
			if n := int(rest[0] - '1'); n < len(words) {
				b.WriteString(words[n])
			}
			text, filled = rest[1:], true
		default:
			b.WriteByte('$')
			text = rest
		}
	}
	if !filled && args != "" {
		b.WriteString("\nARGUMENTS: " + args + "\n")
	}
	return b.String()
}

// Words splits arguments at blanks, but not in quotes that begin a word; those without an end go to
// the end.
func Words(args string) (words []string) {
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range args {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case (r == '"' || r == '\'') && !inWord:
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}
