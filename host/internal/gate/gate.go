package gate

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/grants"
)

// View is the rules at one moment.
type View struct {
	Policy *permissions.Policy
	// Grants are those that the policy was compiled with.
	Grants grants.View
}

// Policies are the rules of a session.
type Policies interface {
	// Now returns the rules that count, as they were when Renew was called last.
	Now() *View
	// Renew takes up the rules as they are by now.
	Renew() *View
	// Changed returns a channel that is closed when the rules change, or when it is
	// time to look at open questions again.
	Changed() <-chan struct{}
}

// Files answers what a decision needs to know about the file system beyond the accesses
// of its subject.
type Files interface {
	// Protected returns the paths, beyond those known by name, whose change makes
	// programs run: see [permissions.Request].Protected.
	Protected(policy *permissions.Policy, accesses []permissions.Access) []string
	// Clear returns the trees that commands search without meeting anything that rules
	// withhold: see [permissions.Request].Clear.
	Clear(policy *permissions.Policy, s *Subject) []permissions.Access
}

// Gate decides about one call and its capability calls. It is safe for concurrent use;
// a [Subject] is not.
type Gate struct {
	Policies  Policies
	Files     Files
	Approvals *Approvals
	Log       Log
	// Judge is asked about what rules leave open in the mode auto; nil is none.
	Judge *Consultation
	// Asker asks a person; nil makes the session headless: what would be asked is denied.
	Asker Asker
}

// Permit returns nil where the subject may happen: by the rules, by what a person
// approved before, or because a judge or a person allows it now. Else the error says, for
// the model, why not.
func (g *Gate) Permit(ctx context.Context, s *Subject) error {
	d := g.Decide(s)
	if d.Verdict == permissions.Allow && s.Operation != "" && g.Log.Unheard() {
		return nil
	}
	d, by, err := g.consult(ctx, s, d)
	if err != nil {
		return err
	}
	if err := g.record(s, &d, by); err != nil {
		return err
	}
	switch d.Verdict {
	case permissions.Allow:
		return nil
	case permissions.Ask:
		err := g.ask(ctx, s)
		g.unanswered(s, err)
		return err
	}
	return Refusal(d)
}

// Decide judges a subject by the rules and by what a person approved for this call.
// Nobody is asked and nothing happens. The same subject is judged again only where the
// rules or the evidence are others, or after [Subject.Recheck].
func (g *Gate) Decide(s *Subject) permissions.Decision {
	now := decided{
		policy: g.Policies.Now().Policy, judged: s.judged, check: s.Check, hook: s.Hook, approvals: g.Approvals.version(),
	}
	if was := &s.last; was.policy == now.policy && was.judged == now.judged && was.check == now.check && was.hook == now.hook && was.approvals == now.approvals {
		return was.Decision
	}
	request, evidence := g.facts(s)
	now.Decision = permissions.Decide(now.policy, request, evidence)
	s.last = now
	return now.Decision
}

// Explain tells how a subject is decided, and why.
func (g *Gate) Explain(s *Subject) permissions.Explanation {
	request, evidence := g.facts(s)
	return permissions.Explain(g.Policies.Now().Policy, request, evidence)
}

// Stands decides again about the subject of a call that was permitted and has waited
// since. What would have to be asked now is refused.
func (g *Gate) Stands(s *Subject) error {
	s.Recheck()
	d := g.Decide(s)
	if d.Verdict == permissions.Allow {
		return nil
	}
	if err := g.record(s, &d, ""); err != nil {
		return err
	}
	err := Refusal(d)
	if d.Verdict == permissions.Ask {
		s.closed = false // the question that this would be is not put
		g.unanswered(s, err)
	}
	return err
}

// Denied returns the refusal of a subject that a rule denies, once it is logged, and nil
// for every other one.
func (g *Gate) Denied(s *Subject) error {
	d := g.Decide(s)
	if !DeniedByRule(d) {
		return nil
	}
	if err := g.record(s, &d, ""); err != nil {
		return err
	}
	return Refusal(d)
}

// DeniedByRule reports whether a decision is a denial that no person and no judge could
// have changed.
func DeniedByRule(d permissions.Decision) bool { return d.Verdict == permissions.Deny && !d.Headless }

// Refusal is a denial as an error for the model.
func Refusal(d permissions.Decision) error { return abi.Errorf(d.Code(), "%s", d.Message()) }

// facts are what a subject is judged by.
func (g *Gate) facts(s *Subject) (permissions.Request, permissions.Evidence) {
	policy := g.Policies.Now().Policy
	request := permissions.Request{
		Stage:     s.Stage(),
		Tool:      s.Call.Tool,
		Aliases:   s.Call.Aliases,
		Origin:    s.Call.Origin,
		Input:     s.Call.Input,
		Accesses:  s.Accesses,
		Protected: g.Files.Protected(policy, s.Accesses),
		Clear:     g.Files.Clear(policy, s),
		Commands:  s.Commands,
		Effects:   s.Call.Effects,
		Headless:  g.Asker == nil,
	}
	if s.Check != nil {
		request.ToolCheck = permissions.ParseCheck(s.Check.Verdict)
	}
	evidence := permissions.Evidence{Hook: s.Hook, Judge: s.judged, Approval: g.Approvals.evidence(s.Call)}
	if evidence.Approval != nil || evidence.Judge != nil {
		request.InputHash = s.Call.Binding()
	}
	return request, evidence
}
