package gate

import (
	"cmp"
	"errors"

	"github.com/toolquay/toolquay/permissions"
)

// Log takes decisions. It is safe for concurrent use.
type Log interface {
	// Unheard reports whether nobody wants to know of decisions, so that those that
	// allow a capability call need not be recorded.
	Unheard() bool
	// Record takes a decision, and who made it, before it takes effect. An error means
	// that it must not take effect.
	Record(s *Subject, d *permissions.Decision, by string) error
	// Warn tells the operator about something that went wrong on the way to a decision.
	Warn(text string)
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
	if err := g.Log.Record(s, d, cmp.Or(by, g.by(d))); err != nil {
		return err
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
