package permissions

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions/internal/hosts"
)

// toolExitWorktree removes worktrees, with work that is nowhere else, too.
const toolExitWorktree = "ExitWorktree"

// Suggestions are the smallest allow rules that would allow what the decision is about; all of them
// are needed. There are none if no rule can allow it, or if something else asks.
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
	case AccessSession:
		if d.Tool == toolExitWorktree && !d.Headless {
			return nil // a yes to one removal would be one to the loss of other work
		}
		fallthrough
	default:
		rules = []string{d.callRule()}
	}
	for _, rule := range rules {
		if !d.grants(rule) {
			return nil
		}
	}
	return rules
}

// AlwaysAllowable reports whether "always allow" can be offered: whether there is a rule for it,
// and nothing asks in spite of the rule.
func (d *Decision) AlwaysAllowable() bool { return len(d.Suggestions()) > 0 }

// grants reports whether a suggested rule is read back as it is meant. There is no rule for a name
// with control characters, for example.
func (d *Decision) grants(text string) bool {
	var known tools
	if d.policy != nil {
		known = d.policy.reading.tools
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

// ReadBelow is the text of a rule on reading what is in a directory, which is absolute.
func ReadBelow(dir string) string {
	return strings.TrimSuffix(suggestPath(toolRead, strings.TrimSuffix(filepath.ToSlash(dir), "/")), ")") + "/**)"
}

// callRule is a rule on the tool, and of one that calls something by its name, on that.
func (d *Decision) callRule() string {
	var input map[string]json.RawMessage
	var called string
	if field, calls := callers[d.Tool]; calls && json.Unmarshal(d.request.Input, &input) == nil && json.Unmarshal(input[field], &called) == nil {
		if words := strings.Fields(called); len(words) > 0 {
			return d.Tool + "(" + strings.TrimPrefix(words[0], "/") + ")"
		}
	}
	return d.Tool
}

// hostRule is a rule on the host, or on the tool if it is not known to take hosts. What a
// confined command reaches is opened as what is fetched.
func (d *Decision) hostRule() []string {
	h := hosts.Of(d.Access.Target)
	if h.Odd != "" || d.policy == nil {
		return nil
	}
	tool := d.Tool
	if d.request.Confined && len(d.request.Commands) > 0 {
		tool = toolWebFetch
	}
	if tool != toolWebFetch && !d.policy.reading.tools[tool].takes(abi.FieldHost) {
		return []string{tool}
	}
	return []string{tool + "(domain:" + h.Name + ")"}
}
