package permissions

import (
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions/internal/hosts"
)

// Message tells the model the decision and what would change it. It names a path only as the model
// did: it does not tell what lies there, nor where it leads.
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
	if d.policy != nil && d.policy.NeverAsks() {
		nobody = "in the mode dontAsk nobody is asked"
		if d.policy.mode != ModeDontAsk {
			nobody = fmt.Sprintf("nobody is asked, as the mode %s was entered from dontAsk", d.policy.mode)
		}
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
	case d.Layer == LayerCritical && d.Why == leaveWhy:
		return d.leaveRemedy()
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

// leaveRemedy says what would let the command leave the sandbox.
func (d *Decision) leaveRemedy() string {
	if l := d.leave(); l != nil {
		return "It needs " + l.String() + "."
	}
	return "No allow rule reaches it."
}

// leave is what would let the request pass if it is held up by leaving the sandbox.
func (d *Decision) leave() *Leave {
	if d.policy == nil || d.Layer != LayerCritical || d.Why != leaveWhy {
		return nil
	}
	r := d.request
	r.Headless = false
	return leaveOf(d.policy, r, Evidence{})
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
	// Outside are the entries of outside in [sandbox] that would let a command leave the
	// sandbox, together with Allow; none where none would.
	Outside []string `json:"outside,omitempty"`
}

// Refusal returns what a program needs to know of a decision that is no Allow.
func (d *Decision) Refusal() Refusal {
	r := Refusal{Code: d.Code(), Layer: d.Layer, Matched: d.Matched(), Reason: d.Reason(), Allow: d.Suggestions()}
	if d.Rule != nil {
		r.Rule, r.Source = d.Rule.String(), d.Rule.Source.String()
	}
	if l := d.leave(); l != nil {
		r.Outside, r.Allow = l.Outside, l.Rules
	}
	return r
}
