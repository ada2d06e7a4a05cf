package permissions

import (
	"fmt"
	"strconv"
	"strings"
)

// outside reads the patterns of commands that may leave the sandbox.
func (l *loader) outside(set *RuleSet) {
	for _, text := range set.Outside {
		src := Source{Kind: set.Source, File: set.File, Line: text.Line}
		name := fmt.Sprintf("[sandbox] outside %q", text.Text)
		r, warning, err := parseRule(Allow, toolBash+"("+text.Text+")", src, nil, nil)
		switch {
		case err != nil:
			warning = fmt.Sprintf("it grants nothing: %v", err)
		case set.Source == SourceProject || set.Source == SourceProjectLocal:
			warning, r.command = "it grants nothing: a project has no say in what leaves the sandbox", nil
		case l.only && set.Source != SourcePolicy:
			warning, r.command = "it grants nothing: policy lets only its own rules allow", nil
		case r.command == nil || r.command.Open() && !r.command.Named():
			warning, r.command = "it grants nothing: any command would leave the sandbox; name programs, as in docker:*", nil
		}
		if warning != "" {
			l.warn(src, name, warning)
		}
		if err == nil && r.command != nil {
			r.text, r.whole, r.outside = name, false, true
			l.rules = append(l.rules, &r)
		}
	}
}

// outside are the rules by which a command may leave the sandbox.
type outside struct {
	// text is the one that is the whole text of the command; nil is none.
	text *Rule
	// parts has, for each part, the one that covers it.
	parts []*Rule
}

// leaving finds the rules by which a command may leave the sandbox. It reports false where it
// may not: some part is neither covered nor read-only, or all only read.
func (b *commandRules) leaving(q *Request, cmd *Command) (found outside, ok bool) {
	if len(b.outside) == 0 || cmd.Fault != "" {
		return found, false
	}
	for _, rule := range b.outside {
		if rule.command.IsText(cmd.Text) && rule.names(q) {
			return outside{text: rule}, true
		}
	}
	found.parts = make([]*Rule, len(cmd.Parts))
	for i := range cmd.Parts {
		p := &cmd.Parts[i]
		if p.Inner {
			continue
		}
		for _, rule := range b.outside {
			if rule.speaksOf(p) && rule.names(q) {
				found.parts[i], ok = rule, true
				break
			}
		}
		if found.parts[i] == nil && (!p.ReadOnly || !p.Bounded()) {
			return outside{}, false
		}
	}
	return found, ok
}

// first is a rule by which the command leaves.
func (o *outside) first() *Rule {
	if o.text != nil {
		return o.text
	}
	for _, rule := range o.parts {
		if rule != nil {
			return rule
		}
	}
	return nil
}

// RunsOutside reports whether the settings let a command of a tool leave the sandbox, if its
// call asks for that.
func (p *Policy) RunsOutside(tool string, cmd *Command) bool {
	_, ok := p.book.leaving(&Request{Tool: tool}, cmd)
	return ok
}

// leaveWhy is why a command asks that is to leave the sandbox.
const leaveWhy = "it asks to leave the sandbox"

// Leave is what would let a request pass whose commands ask to leave the sandbox.
type Leave struct {
	// Outside are entries of outside in [sandbox], of the user's settings or a policy, and
	// Rules the allow rules that are needed besides.
	Outside, Rules []string
}

// String names the entries as a line of TOML, and the rules.
func (l *Leave) String() string {
	quoted := make([]string, len(l.Outside))
	for i, entry := range l.Outside {
		quoted[i] = strconv.Quote(entry)
	}
	text := "outside = [" + strings.Join(quoted, ", ") + "] under [sandbox] in the user's settings"
	if len(l.Rules) > 0 {
		text += ", and the allow rules " + strings.Join(l.Rules, ", ")
	}
	return text
}

// leaveOf is what would let a request pass that asks for leaving the sandbox; nil where
// nothing would.
func leaveOf(p *Policy, r Request, e Evidence) *Leave {
	var texts []RuleText
	var l Leave
	for i := range r.Commands {
		cmd := &r.Commands[i]
		if !cmd.Unsandboxed || cmd.Fault != "" || r.Tool != toolBash {
			return nil
		}
		for j := range cmd.Parts {
			part := &cmd.Parts[j]
			if part.Inner || part.ReadOnly && part.Bounded() {
				continue
			}
			text, ok := suggestPart(part)
			if !ok {
				return nil
			}
			l.Outside, texts = append(l.Outside, text), append(texts, RuleText{Text: text})
		}
	}
	q, warnings, err := p.WithRules(RuleSet{Source: SourceUser, Outside: texts})
	if len(texts) == 0 || err != nil || len(warnings) > 0 {
		return nil
	}
	if d := Decide(q, r, e); d.Verdict != Allow {
		if l.Rules = remedy(q, r, e, &d); len(l.Rules) == 0 {
			return nil
		}
	}
	return &l
}
