package commandrule

import (
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/runners"
	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// Suggest writes a rule on the words of a simple command, as a person would: on the words
// that say what it does, if any arguments are as good as others, else on all of them. It
// reports false if no such rule would allow the command, or only one that allows too much.
func Suggest(words []shellword.Word) (text string, ok bool) {
	if len(words) == 0 {
		return "", false
	}
	if n := runners.Width(words); n > 0 {
		if text, ok = ruleOn(words, n, ":*"); ok {
			return text, true
		}
	}
	return ruleOn(words, len(words), "")
}

// ruleOn writes a rule on the first words, if it would allow the command and not too much.
func ruleOn(words []shellword.Word, n int, end string) (text string, ok bool) {
	quoted := make([]string, n)
	for i, w := range words[:n] {
		if !w.Literal {
			return "", false
		}
		quoted[i] = quoteWord(w.Text)
	}
	text = strings.Join(quoted, " ") + end
	pattern, err := Parse(text)
	return text, err == nil && !pattern.OverBroad() && pattern.Allows(words)
}

// quoteWord writes a word so that a rule reads it back unchanged.
func quoteWord(text string) string {
	if text != "" && strings.Trim(text, shellword.NameLetters+"-+=:,./@%^") == "" {
		return text
	}
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range text {
		switch r {
		case '\'':
			b.WriteString(`'\''`)
		case '*':
			// A star in quotes is a wildcard to a rule all the same.
			b.WriteString(`'\*'`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
