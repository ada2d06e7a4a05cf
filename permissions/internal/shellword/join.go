package shellword

import "strings"

// Spaced writes a command with one Gap between its words and operators.
func Spaced(text string) string {
	var b strings.Builder
	last := rune(Gap)
	for _, r := range text {
		if isBlank(r) && r != Wild {
			r = Gap
		}
		border := IsOperator(r) != IsOperator(last) && r != Gap && last != Gap
		if border || r == Gap && last != Gap {
			b.WriteByte(Gap)
		}
		if r != Gap {
			b.WriteRune(r)
		}
		last = r
	}
	return strings.TrimSuffix(b.String(), string(rune(Gap)))
}

// Join joins words to one string for an allow rule. Words in which the shell expands something
// become Wild, which only a wildcard can match.
func Join(words []Word) string {
	return join(words, func(w Word) string {
		if w.Literal {
			return w.Text
		}
		return string(rune(Wild))
	})
}

// Plain joins words to one string as they are.
func Plain(words []Word) string { return join(words, func(w Word) string { return w.Text }) }

func join(words []Word, text func(Word) string) string {
	size := 0
	for _, w := range words {
		size += len(w.Text) + 2
	}
	var b strings.Builder
	b.Grow(size)
	for i, w := range words {
		if i > 0 {
			b.WriteByte(Gap)
		}
		b.WriteString(text(w))
	}
	return b.String()
}

// MatchPieces matches a text against literal pieces with anything between them. With prefix the
// text may go on after a Gap. To take each piece where it first fits is enough.
func MatchPieces(pieces []string, text string, prefix bool) bool {
	first, last := pieces[0], pieces[len(pieces)-1]
	rest, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	if len(pieces) == 1 {
		return rest == "" || prefix && rest[0] == Gap
	}
	for _, piece := range pieces[1 : len(pieces)-1] {
		if _, rest, ok = strings.Cut(rest, piece); !ok {
			return false
		}
	}
	if strings.HasSuffix(rest, last) {
		return true
	}
	return prefix && strings.Contains(rest, last+string(Gap))
}
