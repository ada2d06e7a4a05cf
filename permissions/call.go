package permissions

import "slices"

// call is one judgement under way. It holds values, not pointers, so that nothing is allocated.
type call struct {
	policy   *Policy
	request  Request
	evidence Evidence
	approved bool
	// grant allows what is left open: a rule on the tool, a hook or the tool's check.
	grant Finding
	trace *[]Finding
}

const approvedWhy = "a person approved it"

// approves reports whether a person approved exactly this access; nil is the call as such.
func (c *call) approves(a *Access) bool {
	return c.approved && (a == nil || slices.Contains(c.evidence.Approval.Accesses, *a))
}

// open judges an access that only a rule on the tool, a hook or the mode can allow. It returns the
// finding, and the one that would count without it.
func (c *call) open(a *Access, grant Finding, why string) (first, second Finding) {
	l := c.ladder(a)
	c.approval(&l, a)
	l.add(grant)
	l.add(c.answer(other, why))
	return l.found()
}

// answer is the mode's or the judge's answer to what is left open.
func (c *call) answer(to matter, why string) Finding {
	mode := c.policy.mode
	switch v := mode.answers(to); {
	case v == byJudge:
		return judged(c.policy, &c.request, c.evidence.Judge, why)
	case v == Allow && mode == ModeBypass:
		return Finding{Verdict: Allow, Layer: LayerMode, Why: "the mode is " + string(ModeBypass)}
	default:
		return Finding{Verdict: v, Layer: LayerMode, Why: why}
	}
}

// must adds a finding that no rule lifts, unless the mode allows it.
func (c *call) must(l *ladder, to matter, layer Layer, why string) {
	if v := c.policy.mode.answers(to); v != Allow {
		l.add(Finding{Verdict: v, Layer: layer, Why: why})
	}
}

// ladder starts a ladder on an access; nil is the call as such.
func (c *call) ladder(a *Access) ladder { return ladder{access: a, trace: c.trace} }

// approval adds a person's approval of exactly this access, if there is one.
func (c *call) approval(l *ladder, a *Access) {
	if c.approves(a) {
		l.add(Finding{Verdict: Allow, Layer: LayerApproval, Why: approvedWhy})
	}
}
