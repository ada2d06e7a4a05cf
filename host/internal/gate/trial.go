package gate

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/permissions"
)

// Stood is the error of a [Subject].Rehearse that found that nobody need be asked, and why.
// Where a person is asked all the same, they are shown what Rehearse set by then.
type Stood struct{ Why string }

func (s *Stood) Error() string { return s.Why }

// Tries reports whether a subject is to be tried before a person is asked: see [permissions.Policy.Tries].
func (g *Gate) Tries(s *Subject) bool {
	policy := g.Policies.Now().Policy
	request, evidence := g.facts(policy, s)
	return policy.Tries(request, evidence)
}

// alone tries a subject of which nobody can be asked, and has the trial decide where it does. Else the
// subject is denied, as it would be without.
func (g asking) alone(ctx context.Context) (settled bool, err error) {
	if g.s.Rehearse == nil || !g.letsStand(g.s) {
		return false, nil
	}
	done, err := g.s.Rehearse(ctx, g.s)
	if done != nil {
		defer done()
	}
	if stood, ok := errors.AsType[*Stood](err); ok {
		return g.stood(stood)
	}
	return err != nil, err
}

// stood has a trial decide, by the rules as they are by now. Where it does not settle the subject any
// more, the person is asked.
func (g asking) stood(t *Stood) (settled bool, err error) {
	d, _ := g.again()
	if d.Verdict == permissions.Ask || d.Headless {
		if !g.letsStand(g.s) {
			return false, nil
		}
		d.Verdict, d.Headless = permissions.Allow, false
		d.Finding = permissions.Finding{Verdict: permissions.Allow, Layer: permissions.LayerContained, Access: d.Access, Why: t.Why}
		g.s.stood = true
	}
	return true, g.settled(d)
}

// letsStand reports whether, by the rules as they are now, a trial of a subject decides that changed nothing.
func (g *Gate) letsStand(s *Subject) bool {
	return g.Policies.Now().Policy.TrialStands() && g.Tries(s)
}
