package gate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions"
)

// commandReason stands before what is said of the parts of a command that the mode asks
// about.
const commandReason = "This mode asks before commands that are not known to only read."

// Reasons says why the person is asked, in sentences: everything that asks, the strongest
// first.
func (q *Question) Reasons() []string {
	asks := q.Explanation.Asks
	var out []string
	if q.Subject != nil && q.Subject.Tried != "" {
		out = append(out, sentence(q.Subject.Tried))
	}
	commands := false
	for i := range asks {
		f := &asks[i]
		text := f.Reason()
		switch ofCommand := f.Access.Kind == permissions.AccessExec; {
		case f.Rule != nil:
			text += " asks"
		case ofCommand && f.Layer == permissions.LayerMode:
			if !commands {
				out = append(out, commandReason)
			}
			commands, text = true, namedOnce(withoutPlace(text))
		case !ofCommand && len(asks) > 1 && f.Access != (permissions.Access{}):
			text = f.Access.String() + ": " + text
		}
		if text = sentence(text); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// withoutPlace takes off where in a command something stands: a person has it in front of
// them.
func withoutPlace(text string) string {
	i := strings.LastIndex(text, " (")
	if i < 0 || !strings.HasPrefix(text[i+2:], "column ") && !strings.HasPrefix(text[i+2:], "line ") {
		return text
	}
	return text[:i]
}

// namedOnce takes off a program's second name where a reason names it twice, as in
// "`make`: make is ..." and "`npm`: npm test: ...".
func namedOnce(text string) string {
	name, rest, ok := strings.Cut(strings.TrimPrefix(text, "`"), "`: ")
	behind, again := strings.CutPrefix(rest, name)
	switch form, why, says := strings.Cut(rest, ": "); {
	case !ok || !again:
		return text
	case strings.HasPrefix(behind, " is "):
		return "`" + name + "`" + behind
	case says && strings.HasPrefix(behind, ":"), says && strings.HasPrefix(behind, " "):
		return "`" + form + "`: " + why
	}
	return text
}

// sentence begins a text with a capital letter and ends it with a full stop.
func sentence(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(r)) + text[size:]
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
