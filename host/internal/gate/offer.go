package gate

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/permissions"
)

// Offer makes of a [Subject] what a running call was refused, and could be given if a person
// wants that: it is asked about whatever the rules allow.
type Offer struct {
	// Why says to the person what a yes does.
	Why string
	// Rules are the allow rules that would spare the question; none where none would.
	Rules []string
}

// Offer asks a person about a subject with an offer, and reports whether they said yes. The
// error is what came of the question otherwise. Nobody is asked, and nothing is wrong, where
// there is nobody to ask, where the mode asks nobody, or where a rule denies the subject.
func (g *Gate) Offer(ctx context.Context, s *Subject) (yes bool, err error) {
	if g.Asker == nil || g.Policies.Renew().Policy.NeverAsks() {
		return false, nil
	}
	d := g.Decide(s)
	if d.Verdict != permissions.Ask {
		return false, nil
	}
	if err := g.record(s, &d, ""); err != nil {
		return false, err
	}
	err = asking{g, s}.ask(ctx)
	g.unanswered(s, err)
	if errors.Is(err, errNobody) {
		return false, nil
	}
	return err == nil, err
}

// decideOffer judges a subject with an offer: nothing but a person's answer allows it.
func (g *Gate) decideOffer(s *Subject) permissions.Decision {
	request, evidence := g.facts(g.Policies.Now().Policy, s)
	d := permissions.Decide(g.Policies.Now().Policy, request, evidence)
	switch {
	case d.Verdict == permissions.Deny:
	case g.Approvals.has(s.Accesses):
		d.Finding = permissions.Finding{Verdict: permissions.Allow, Layer: permissions.LayerApproval, Access: d.Access, Why: "a person approved it"}
	default:
		d.Finding = s.Offer.finding(s)
	}
	return d
}

// finding is what asks about an offer.
func (o *Offer) finding(s *Subject) permissions.Finding {
	f := permissions.Finding{Verdict: permissions.Ask, Layer: permissions.LayerNetwork, Why: o.Why}
	if len(s.Accesses) > 0 {
		f.Access = s.Accesses[0]
	}
	return f
}
