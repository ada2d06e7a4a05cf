package gate

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/permissions"
)

// Stood is the error with which a [Subject].Rehearse says that nobody needs to be asked, and why.
// If a person is asked anyway, the question shows what Rehearse set.
type Stood struct{ Why string }

func (s *Stood) Error() string { return s.Why }

// Tries reports whether a subject is tried before a person is asked: see [permissions.Policy.Tries].
func (g *Gate) Tries(s *Subject) bool {
	policy := g.Policies.Now().Policy
	request, evidence := g.facts(policy, s)
	return policy.Tries(request, evidence)
}

// alone tries a subject about which nobody can be asked. settled reports that the trial decided, or
// failed with err. Otherwise the subject is denied, as it is without a trial.
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

// stood lets a trial decide, by the rules as they are now. settled is false if the trial no longer
// decides under these: then the person is asked.
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

// letsStand reports whether, by the rules as they are now, a trial that changed nothing decides about
// a subject.
func (g *Gate) letsStand(s *Subject) bool {
	return g.Policies.Now().Policy.TrialStands() && g.Tries(s)
}
