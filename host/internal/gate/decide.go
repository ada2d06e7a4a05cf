package gate

import (
	"cmp"
	"errors"

	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
)

// maxReason bounds what is shown of a tool's own reason, in bytes.
const maxReason = 300

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

// Decide judges a subject by the rules and by what a person approved for this call.
// Nobody is asked and nothing happens. The same call is judged again only where the rules or
// the evidence are others, or after [Subject.Recheck].
func (g *Gate) Decide(s *Subject) permissions.Decision {
	if s.Offer != nil {
		return g.decideOffer(s)
	}
	policy := g.Policies.Now().Policy
	if s.Operation != "" {
		request, evidence := g.facts(policy, s)
		return permissions.Decide(policy, request, evidence)
	}
	if approvals := g.Approvals.version(); !s.last.stands(s, policy, approvals) {
		request, evidence := g.facts(policy, s)
		s.last = &decided{permissions.Decide(policy, request, evidence), policy, s.judged, s.Check, s.Hook, approvals}
	}
	return s.last.Decision
}

// Explain tells how a subject is decided, and why.
func (g *Gate) Explain(s *Subject) permissions.Explanation {
	policy := g.Policies.Now().Policy
	request, evidence := g.facts(policy, s)
	return permissions.Explain(policy, request, evidence)
}

// facts are what a subject is judged by under a policy.
func (g *Gate) facts(policy *permissions.Policy, s *Subject) (permissions.Request, permissions.Evidence) {
	request := permissions.Request{
		Stage:     s.Stage(),
		Tool:      s.Call.Tool,
		Aliases:   s.Call.Aliases,
		Origin:    s.Call.Origin,
		Input:     s.Call.Input,
		Accesses:  s.Accesses,
		Protected: g.Files.Protected(policy, s.Accesses),
		Clear:     g.Files.Clear(policy, s),
		Confined:  g.Files.Confined(policy, s),
		Commands:  s.Commands,
		Effects:   s.Call.Effects,
		Headless:  g.Asker == nil,
	}
	if s.Check != nil {
		request.ToolCheck = permissions.ParseCheck(s.Check.Verdict)
		request.CheckReason = visible.Short(s.Check.Reason, maxReason)
	}
	evidence := permissions.Evidence{Hook: s.Hook, Judge: s.judged, Approval: g.Approvals.evidence(s.Call)}
	if evidence.Approval != nil || evidence.Judge != nil {
		request.InputHash = s.Call.Binding()
	}
	return request, evidence
}

// Who decided what the rules left open, as logs name them. A grant is followed by its ID.
const (
	byPerson = "person"
	byNobody = "nobody"
	byHook   = "hook"
	byJudge  = "judge"
	byGrant  = "grant "
)

// record logs a decision before it takes effect. An error means that it must not.
func (g *Gate) record(s *Subject, d *permissions.Decision, by string) error {
	if !g.Log.Unheard() {
		heard := *d // only here, so that d need not be on the heap
		if err := g.Log.Record(s, &heard, cmp.Or(by, g.by(d))); err != nil {
			return err
		}
	}
	s.closed = s.closed || d.Verdict != permissions.Ask
	return nil
}

// by returns who decided, as far as the decision tells.
func (g *Gate) by(d *permissions.Decision) string {
	switch d.Layer {
	case permissions.LayerApproval:
		return byPerson
	case permissions.LayerHook:
		return byHook
	case permissions.LayerJudge:
		return byJudge
	}
	if grant, ok := g.Policies.Now().Grants.Granted(d.Rule); ok {
		return byGrant + grant.ID
	}
	return ""
}

// unanswered logs how a question ended that was not decided: it was withdrawn because the
// call or its turn was over, it was left for later or not put after all, or the person
// answered with another input. So every question in the log has an end.
func (g *Gate) unanswered(s *Subject, why error) {
	if s.closed || why == nil {
		return
	}
	by, said := byNobody, "nobody answered: "+why.Error()
	if r, ok := errors.AsType[*Rewritten](why); ok && r.ByPerson {
		by, said = byPerson, "the person wrote another input, on which is decided instead"
	}
	d := g.Decide(s)
	d.Finding = permissions.Finding{Verdict: permissions.Deny, Layer: permissions.LayerApproval, Access: d.Access, Why: said}
	_ = g.record(s, &d, by) // nothing takes effect, and a log that failed has said so
}
