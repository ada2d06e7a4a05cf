package permissions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// Layer says which part of the chain a finding comes from.
type Layer string

// The layers.
const (
	// LayerRule is a deny, ask or allow rule.
	LayerRule Layer = "rule"
	// LayerHook is a hook's answer.
	LayerHook Layer = "hook"
	// LayerToolCheck is the tool's own check.
	LayerToolCheck Layer = "tool-check"
	// LayerProtected is a place whose change would change what runs later.
	LayerProtected Layer = "protected"
	// LayerCredentials is a place that holds secrets, or a device.
	LayerCredentials Layer = "credentials"
	// LayerPath is a path that cannot be judged.
	LayerPath Layer = "path"
	// LayerApproval is a person's yes.
	LayerApproval Layer = "approval"
	// LayerMode is the mode's own answer.
	LayerMode Layer = "mode"
)

// Finding is one opinion of the chain.
type Finding struct {
	// Verdict is None where there is no finding.
	Verdict Verdict
	Layer   Layer
	// Rule is set for LayerRule.
	Rule *Rule
	// Access is what it is about; the zero value is the call as such.
	Access Access
	// Why says, for other layers than LayerRule, what it found.
	Why string

	need    Need
	missing uint8
}

func ruleFinding(r *Rule, a *Access) Finding {
	f := Finding{Verdict: r.Verdict, Layer: LayerRule, Rule: r}
	if a != nil {
		f.Access = *a
	}
	return f
}

// ladder keeps the first two findings, in order of precedence.
type ladder struct{ first, second Finding }

func (l *ladder) add(f Finding) {
	switch {
	case f.Verdict == None:
	case l.first.Verdict == None:
		l.first = f
	case l.second.Verdict == None:
		l.second = f
	}
}

func (l *ladder) on(a *Access) (first, second Finding) {
	if a != nil {
		l.first.Access = *a
		if l.second.Verdict != None {
			l.second.Access = *a
		}
	}
	return l.first, l.second
}

// Decision is what a request came to. The embedded finding is the one that
// decided.
type Decision struct {
	Finding
	// RunnerUp is what would have stood without it: the next finding on the
	// same access, or else the next strictest.
	RunnerUp Finding
	// Tool and Stage are the request's.
	Tool  string
	Stage Stage
	// Headless says that the verdict was Ask, and is Deny because nobody can
	// be asked.
	Headless bool
	// Need says what evidence would let the decision be made. The verdict
	// beside it is never Allow.
	Need Need
}

// add joins the finding on one more access into the decision.
func (d *Decision) add(first, second Finding) {
	d.Need |= first.need
	switch {
	case first.Verdict.Worse(d.Verdict):
		if second.Verdict == None {
			second = d.Finding
		}
		d.Finding, d.RunnerUp = first, second
	case first.Verdict.Worse(d.RunnerUp.Verdict):
		d.RunnerUp = first
	}
}

// Code is the error code that goes with the verdict: abi.CodeDenied for a deny,
// abi.CodeNeedsApproval where a person must decide and cannot or has not, and
// empty for an allow.
func (d *Decision) Code() abi.Code {
	switch {
	case d.Verdict == Ask || d.Headless:
		return abi.CodeNeedsApproval
	case d.Verdict == Deny:
		return abi.CodeDenied
	}
	return ""
}

// Matched is what was judged: the access, or the tool for the call as such.
func (d *Decision) Matched() string {
	if d.Access == (Access{}) {
		return "calling " + d.Tool
	}
	return d.Access.String()
}

// Reason says why the verdict is what it is, for people.
func (f *Finding) Reason() string {
	if f.Rule != nil {
		return fmt.Sprintf("the %s rule %s (%s)", f.Rule.Verdict, f.Rule, f.Rule.Source)
	}
	if f.Why == "" {
		return "the " + string(f.Layer) + " says so"
	}
	return f.Why
}

// Suggestions are the allow rules that would let the request pass, all of them
// needed. There are none where no rule can allow it.
func (d *Decision) Suggestions() []string {
	if d.Layer != LayerMode || d.Verdict != Ask && !d.Headless {
		return nil
	}
	a := d.Access
	if a.Kind != AccessRead && a.Kind != AccessWrite {
		// Some names cannot be said in a rule, or would say more than a name.
		if r, _, err := ParseRule(Allow, d.Tool, Source{}, nil); err != nil || !r.name.match(d.Tool) {
			return nil
		}
		return []string{d.Tool}
	}
	tool := toolRead
	if a.Kind == AccessWrite {
		tool = toolEdit
	}
	var rules []string
	if d.missing&missingTarget != 0 {
		rules = append(rules, suggest(tool, a.Target))
	}
	if d.missing&missingReal != 0 && a.Real != a.Target {
		rules = append(rules, suggest(tool, a.Real))
	}
	for _, rule := range rules {
		// A name with control characters, for one, has no rule.
		if _, _, err := ParseRule(Allow, rule, Source{}, nil); err != nil || strings.ContainsRune(rule, utf8.RuneError) {
			return nil
		}
	}
	return rules
}

// suggest writes the rule on exactly one path.
func suggest(tool, path string) string {
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

// Message tells the model what was decided and what would change it. Of a path
// it says no more than the model did: not what lies there, nor where it leads,
// which the decision was about.
func (d *Decision) Message() string {
	what, why := "calling "+d.Tool, d.Reason()
	if d.Access != (Access{}) {
		what = d.Access.named()
	}
	switch {
	case d.Verdict == Allow:
		return fmt.Sprintf("Allowed: %s (%s).", what, why)
	case d.Verdict == Deny && !d.Headless:
		return fmt.Sprintf("Permission denied: %s (%s).", what, why)
	case d.Verdict == Ask:
		return fmt.Sprintf("Permission needed: %s (%s).", what, why)
	}
	return fmt.Sprintf("Permission denied: %s needs a person's approval (%s), and nobody can be asked here. %s",
		what, why, d.remedy())
}

func (d *Decision) remedy() string {
	switch rules := d.Suggestions(); {
	case len(rules) > 0:
		return fmt.Sprintf("It needs the allow rule %s.", rules[0])
	case d.Layer == LayerProtected || d.Layer == LayerCredentials:
		return "No allow rule reaches it."
	case d.Rule != nil:
		return "No allow rule is stronger than an ask rule."
	}
	return "No allow rule can be suggested for it."
}

// String names the access for people, such as "reading everything in /etc".
func (a Access) String() string {
	out := a.named()
	if a.Tree {
		out = a.verb() + " everything in " + printable(a.Target)
	}
	if a.Real != "" && a.Real != a.Target {
		out += ", which is " + printable(a.Real)
	}
	return out
}

// named names the access by what was asked for alone, such as "reading /etc".
func (a Access) named() string { return a.verb() + " " + printable(a.Target) }

func (a Access) verb() string {
	verb, ok := map[AccessKind]string{
		AccessRead: "reading", AccessWrite: "changing", AccessExec: "running",
		AccessNet: "connecting to", AccessSession: "using the session's",
	}[a.Kind]
	if !ok {
		return string(a.Kind)
	}
	return verb
}

// printable quotes a name that would not print as it is.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
