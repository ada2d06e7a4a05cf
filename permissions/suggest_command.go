package permissions

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/commandrule"
)

// commandRules are rules on the parts of a command that nothing allows, or the
// one on its whole text where a part cannot be named.
func (d *Decision) commandRules() []string {
	cmd := d.request.command(d.Access.Target)
	if d.policy == nil || cmd == nil || cmd.Fault != "" {
		return nil
	}
	c := call{policy: d.policy, request: d.request}
	var rules []string
	for i := range cmd.Parts {
		p := &cmd.Parts[i]
		if p.Inner || p.Bounded() || partGrant(&c, p).Verdict == Allow {
			continue
		}
		text, ok := suggestPart(p)
		if !ok {
			return []string{d.wholeText(cmd)}
		}
		if rule := d.Tool + "(" + text + ")"; !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return []string{d.wholeText(cmd)}
	}
	return rules
}

func (d *Decision) wholeText(cmd *Command) string {
	return d.Tool + "(" + strings.ReplaceAll(cmd.Text, "*", `\*`) + ")"
}

// suggestPart writes a rule on one part.
func suggestPart(p *Part) (text string, ok bool) {
	if len(p.Env) > 0 && !p.EnvTunes {
		return "", false
	}
	return commandrule.Suggest(p.Words)
}
