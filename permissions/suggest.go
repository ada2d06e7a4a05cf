package permissions

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// Suggestions are the smallest allow rules that would let pass what the decision
// is about, all of them needed. There are none where no rule can allow it, be it
// for something else that asks.
func (d *Decision) Suggestions() []string {
	if d.held || d.Layer != LayerMode && d.Layer != LayerJudge || d.Verdict != Ask && !d.Headless {
		return nil
	}
	var rules []string
	switch d.Access.Kind {
	case AccessRead:
		rules = d.pathRules(toolRead)
	case AccessWrite:
		rules = d.pathRules(toolEdit)
	case AccessExec:
		rules = d.commandRules()
	case AccessNet:
		rules = d.hostRule()
	default:
		rules = []string{d.Tool}
	}
	for _, rule := range rules {
		if !d.grants(rule) {
			return nil
		}
	}
	return rules
}

// AlwaysAllowable reports whether allowing the like of it for good can be
// offered: whether there is a rule for it, and nothing that would ask in spite of
// the rule.
func (d *Decision) AlwaysAllowable() bool { return len(d.Suggestions()) > 0 }

// grants reports whether a rule is understood as it is meant. A name with
// control characters, for one, has no rule.
func (d *Decision) grants(text string) bool {
	var known tools
	if d.policy != nil {
		known = d.policy.tools
	}
	r, warning, err := parseRule(Allow, text, Source{}, nil, known)
	if err != nil || warning != "" || strings.ContainsRune(text, utf8.RuneError) {
		return false
	}
	return !r.whole || r.names(&d.request) && !r.overBroad()
}

func (d *Decision) pathRules(tool string) (rules []string) {
	a := d.Access
	if d.missing&missingTarget != 0 {
		rules = append(rules, suggestPath(tool, a.Target))
	}
	if d.missing&missingReal != 0 && a.Real != a.Target {
		rules = append(rules, suggestPath(tool, a.Real))
	}
	return rules
}

// suggestPath writes the rule on exactly one path.
func suggestPath(tool, path string) string {
	var b strings.Builder
	b.WriteString(tool)
	b.WriteString("(/")
	for i, r := range path {
		if strings.ContainsRune(`\*?[{`, r) || r == ' ' && i == len(path)-1 {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	b.WriteByte(')')
	return b.String()
}

// hostRule is a rule on the host, or on the tool where that is not known to take
// any.
func (d *Decision) hostRule() []string {
	h := HostOf(d.Access.Target)
	if h.Odd != "" || d.policy == nil {
		return nil
	}
	if d.Tool != toolWebFetch && !d.policy.tools[d.Tool].takes(abi.FieldHost) {
		return []string{d.Tool}
	}
	return []string{d.Tool + "(domain:" + h.Name + ")"}
}

// commandRules are rules on the parts of a command that nothing allows, or the
// one on its whole text where a part cannot be named.
func (d *Decision) commandRules() []string {
	c := call{policy: d.policy, request: d.request}
	cmd := c.command(d.Access.Target)
	if d.policy == nil || cmd == nil || cmd.Fault != "" {
		return nil
	}
	var rules []string
	for i := range cmd.Parts {
		p := &cmd.Parts[i]
		if p.Inner || p.Bounded() || c.partGrant(p).Verdict == Allow {
			continue
		}
		text, ok := suggestWords(p)
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

// suggestWords writes a rule on one part: its first words, where they say what is
// done and any arguments are as good as others, else all of them.
func suggestWords(p *Part) (text string, ok bool) {
	if len(p.Words) == 0 {
		return "", false
	}
	if n := safeWidth(p.Words); n > 0 {
		if text, ok = ruleOn(p, p.Words[:n], ":*"); ok {
			return text, true
		}
	}
	return ruleOn(p, p.Words, "")
}

// ruleOn writes a rule on words, if it would allow the part and not too much.
func ruleOn(p *Part, words []Word, end string) (text string, ok bool) {
	quoted := make([]string, len(words))
	for i, w := range words {
		if !w.Literal {
			return "", false
		}
		quoted[i] = quoteWord(w.Text)
	}
	text = strings.Join(quoted, " ") + end
	pattern, err := parseCommand(text)
	return text, err == nil && !pattern.overBroad() && pattern.allows(p)
}

// subcommands are programs whose first word says what they do, and those of
// which the second one does. Behind those words any argument may follow.
var subcommands = map[string]int{
	"git": 2, "go": 2, "cargo": 2, "npm": 2, "pnpm": 2, "yarn": 2, "make": 2, "pip": 2, "brew": 2, "apt": 2,
	"rustup": 2, "dotnet": 2, "gh": 3, "mvn": 2, "bazel": 2, "terraform": 2, "helm": 2, "systemctl": 2,
	"npm run": 3, "pnpm run": 3, "yarn run": 3, "bun run": 3, "docker compose": 3, "git stash": 3, "git remote": 3,
	"git worktree": 3, "git submodule": 3, "uv pip": 3, "docker": 2, "podman": 2, "kubectl": 2,
}

// safeWidth is how many words say what a command does, or 0 where only all of
// them do.
func safeWidth(words []Word) int {
	n := subcommands[words[0].Text]
	if len(words) > 1 {
		n = max(n, subcommands[words[0].Text+" "+words[1].Text])
	}
	if n == 0 || len(words) < n {
		return 0
	}
	for _, w := range words[1:n] {
		if !w.Literal || w.Text == "" || strings.Trim(w.Text, nameLetters+"-:.") != "" || w.Text[0] == '-' {
			return 0
		}
	}
	return n
}

// quoteWord writes a word so that it is read back as it is.
func quoteWord(text string) string {
	if text != "" && strings.Trim(text, nameLetters+"-+=:,./@%^") == "" {
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

// Refusal is why something was not allowed, for programs.
type Refusal struct {
	Code  abi.Code `json:"code"`
	Layer Layer    `json:"layer"`
	// Rule and Source are those that decided, or empty.
	Rule   string `json:"rule,omitempty"`
	Source string `json:"source,omitempty"`
	// Matched is what was judged, and Reason why it was not allowed.
	Matched string `json:"matched"`
	Reason  string `json:"reason"`
	// Allow are the rules that would allow it; none where none would.
	Allow []string `json:"allow,omitempty"`
}

// Refusal returns what a program needs to know of a decision that is no Allow.
func (d *Decision) Refusal() Refusal {
	r := Refusal{Code: d.Code(), Layer: d.Layer, Matched: d.Matched(), Reason: d.Reason(), Allow: d.Suggestions()}
	if d.Rule != nil {
		r.Rule, r.Source = d.Rule.String(), d.Rule.Source.String()
	}
	return r
}
