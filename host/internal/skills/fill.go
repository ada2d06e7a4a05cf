package skills

import (
	"strings"
	"unicode/utf8"
)

// whole is what stands for all arguments.
const whole = "$ARGUMENTS"

// fill puts arguments in the place of $ARGUMENTS and, in a command, of $1 to $9: texts of skills have
// those in code for shells and awk. What is put in is not looked through again. Where a text has a
// place for none, they follow it. It returns the first [MaxText] characters, and how many there are.
func fill(text, args string, positions bool) (filled string, chars int) {
	var b begins
	all, words, placed := counted(args), []piece(nil), false
	if positions {
		for _, word := range Words(args) {
			words = append(words, counted(word))
		}
	}
	for {
		before, rest, found := strings.Cut(text, "$")
		b.add(counted(before))
		if !found {
			break
		}
		switch after, isWhole := strings.CutPrefix(rest, whole[1:]); {
		case isWhole:
			b.add(all)
			text, placed = after, true
		case positions && rest != "" && rest[0] >= '1' && rest[0] <= '9' && (len(rest) == 1 || rest[1] < '0' || rest[1] > '9'):
			if n := int(rest[0] - '1'); n < len(words) {
				b.add(words[n])
			}
			text, placed = rest[1:], true
		default:
			b.add(piece{"$", 1})
			text = rest
		}
	}
	if !placed && args != "" {
		b.add(counted("\nARGUMENTS: " + args + "\n"))
	}
	return b.text.String(), b.chars
}

// piece is a part of a text, and how many characters it has: a short text may name long arguments
// millions of times.
type piece struct {
	text  string
	chars int
}

func counted(text string) piece { return piece{text, utf8.RuneCountInString(text)} }

// begins is the beginning of a text that is put together, and how long all of it would be.
type begins struct {
	text  strings.Builder
	chars int
}

func (b *begins) add(p piece) {
	if room := MaxText - b.chars; p.chars <= room {
		b.text.WriteString(p.text)
	} else if room > 0 {
		for i := range p.text {
			if room--; room < 0 {
				b.text.WriteString(p.text[:i])
				break
			}
		}
	}
	b.chars += p.chars
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
