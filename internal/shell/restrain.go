package shell

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
	"github.com/toolquay/toolquay/permissions"
)

// unrestrain takes back that parts only read which do so only under [Environment]. Beside
// a program that does more than read, the command runs in the usual environment, where
// [Functions] restrains the calls of git that are written out.
func unrestrain(parts []permissions.Part) {
	for i := range parts {
		p := &parts[i]
		if !p.ReadOnly || len(p.Words) == 0 || !programs.NeedsEnvironment(p.Words[0].Text) || restrainable(p.Words) {
			continue
		}
		p.ReadOnly, p.Complete = false, false
		p.Reason = quoted(p.Words[0].Text) + " may run what the repository names, beside a program that does more than read"
	}
}

// separator parts the words of a call for comparing. No word of [Functions] holds it.
const separator = "\x1f"

// restrainable reports whether the call of a program can be told from others by its words.
func restrainable(words []permissions.Word) bool {
	return programs.HasFunction(words[0].Text) && !slices.ContainsFunc(words, func(w permissions.Word) bool {
		return !w.Literal || strings.Contains(w.Text, separator)
	})
}

// Functions lists settings as [Environment] does: functions of bash for a command that is
// not [permissions.Command.Restrained]. Each stands in the place of a program, and runs it
// under Environment where it is called with the words of a part that is read-only; other
// calls it hands on. Shells that scripts start take no notice of it.
func Functions(c *permissions.Command) []string {
	if c.Restrained || c.Fault != "" {
		return nil
	}
	calls := map[string][]string{}
	var names []string
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Inner || !p.ReadOnly || len(p.Words) == 0 || !programs.HasFunction(p.Words[0].Text) {
			continue
		}
		name := p.Words[0].Text
		if calls[name] == nil {
			names = append(names, name)
		}
		texts := make([]string, len(p.Words)-1)
		for j, w := range p.Words[1:] {
			texts[j] = w.Text
		}
		if call := strings.Join(texts, separator); !slices.Contains(calls[name], call) {
			calls[name] = append(calls[name], call)
		}
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = programs.Function(name, separator, calls[name])
	}
	return out
}
