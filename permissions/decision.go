package permissions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions/internal/hosts"
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
	// LayerCommand is a command that cannot be judged, or that a person is to
	// see whatever rules allow.
	LayerCommand Layer = "command"
	// LayerNetwork is a host that cannot be told for sure, or that is local.
	LayerNetwork Layer = "network"
	// LayerCritical is what asks in every mode: removing critical paths, and
	// leaving the sandbox.
	LayerCritical Layer = "critical"
	// LayerJudge is a judge's answer.
	LayerJudge Layer = "judge"
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

// ladder keeps the first two findings on one thing, in order of precedence.
type ladder struct {
	first, second Finding
	access        *Access
	approved      bool
	trace         *[]Finding
}

func (c *call) ladder(a *Access) ladder { return ladder{access: a, trace: c.trace} }

func (l *ladder) add(f Finding) {
	if f.Verdict == None || f.Layer == LayerApproval && l.approved {
		return
	}
	l.approved = l.approved || f.Layer == LayerApproval
	if l.trace != nil {
		if l.access != nil {
			f.Access = *l.access
		}
		*l.trace = append(*l.trace, f)
	}
	switch {
	case l.first.Verdict == None:
		l.first = f
	case l.second.Verdict == None:
		l.second = f
	}
}

func (l *ladder) found() (first, second Finding) {
	if l.access != nil {
		if l.first.Verdict != None {
			l.first.Access = *l.access
		}
		if l.second.Verdict != None {
			l.second.Access = *l.access
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
	// be asked, or may be in [ModeDontAsk].
	Headless bool
	// Need says what evidence would let the decision be made. The verdict
	// beside it is never Allow.
	Need Need

	// held says that something asks that no rule can lift.
	held bool
	// asks are all findings that ask, where they are written down.
	asks    []Finding
	traced  bool
	policy  *Policy
	request Request
}

// must reports whether a finding asks whatever rules allow.
func (f *Finding) must() bool {
	return f.Verdict == Ask && f.Layer != LayerMode && f.Layer != LayerJudge
}

// outranks reports whether a finding is to be named rather than another.
func (f *Finding) outranks(g *Finding) bool {
	return f.Verdict.Worse(g.Verdict) || f.Verdict == g.Verdict && f.must() && !g.must()
}

// add joins the finding on one more access into the decision.
func (d *Decision) add(first, second Finding) {
	d.Need |= first.need
	d.held = d.held || first.must()
	if d.traced && first.Verdict == Ask {
		d.asks = append(d.asks, first)
	}
	switch {
	case first.outranks(&d.Finding):
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
	nobody := "nobody can be asked here"
	if d.policy != nil && d.policy.mode == ModeDontAsk {
		nobody = "in the mode dontAsk nobody is asked"
	}
	return fmt.Sprintf("Permission denied: %s needs a person's approval (%s), and %s. %s", what, why, nobody, d.remedy())
}

func (d *Decision) remedy() string {
	switch rules := d.Suggestions(); {
	case len(rules) == 1:
		return fmt.Sprintf("It needs the allow rule %s.", rules[0])
	case len(rules) > 1 && (d.Access.Kind == AccessRead || d.Access.Kind == AccessWrite):
		return fmt.Sprintf("It needs the allow rule %s.", rules[0]) // the others would tell where a link leads
	case len(rules) > 1:
		return fmt.Sprintf("It needs the allow rules %s.", strings.Join(rules, ", "))
	case d.Rule != nil:
		return "No allow rule is stronger than an ask rule."
	case d.held && d.Access.Kind == AccessNet && d.Layer == LayerNetwork:
		if h := hosts.Of(d.Access.Target); h.Odd == "" {
			return fmt.Sprintf("Only an allow rule that names the host reaches it: WebFetch(domain:%s).", h.Name)
		}
		return "No allow rule reaches it."
	case d.held:
		return "No allow rule reaches it."
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
