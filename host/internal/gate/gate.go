package gate

import (
	"context"

	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/permissions"
)

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
	if d.Headless {
		if settled, err := (asking{g, s}).alone(ctx); settled {
			return err
		}
	}
	if err := g.record(s, &d, by); err != nil {
		return err
	}
	switch d.Verdict {
	case permissions.Allow:
		return nil
	case permissions.Ask:
		err := asking{g, s}.ask(ctx)
		g.unanswered(s, err)
		return err
	}
	return Refusal(d)
}

// Stands decides again about the subject of a call that was permitted and has waited
// since. What would have to be asked now is refused.
func (g *Gate) Stands(s *Subject) error {
	s.Recheck()
	d := g.Decide(s)
	if d.Verdict == permissions.Allow || s.stood && (d.Verdict == permissions.Ask || d.Headless) && g.letsStand(s) {
		return nil
	}
	if err := g.record(s, &d, ""); err != nil {
		return err
	}
	err := Refusal(d)
	if d.Verdict == permissions.Ask {
		s.closed = false // nobody is asked, so the log gets an end for this ask
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

// Speculate has the judge begin to think about a subject where a decision on it needs
// its answer, so that the answer is there sooner.
func (g *Gate) Speculate(ctx context.Context, s *Subject, d permissions.Decision) {
	if g.Judge != nil && d.Need&permissions.NeedJudge != 0 {
		g.Judge.begin(ctx, s, g.question(s))
	}
}

// consult asks the judge where its answer would change the decision, and decides again,
// by the rules as they are by then. It returns who decided, where that was not the rules.
func (g *Gate) consult(ctx context.Context, s *Subject, d permissions.Decision) (permissions.Decision, string, error) {
	if d.Need&permissions.NeedJudge == 0 || g.Judge == nil {
		if s.Operation == "" {
			g.Judge.Cancel()
		}
		return d, "", nil
	}
	p := g.Judge.begin(ctx, s, g.question(s))
	answer := p.Answer(ctx)
	if ctx.Err() != nil {
		return d, "", Cancelled(ctx)
	}
	if answer.Err != nil {
		g.Judge.drop(p)
		g.Log.Warn(answer.Reason)
	}
	s.judged = &permissions.JudgeAnswer{InputHash: answer.InputHash, Verdict: answer.Verdict, Reason: answer.Reason}
	g.Policies.Renew()
	if d = g.Decide(s); d.Verdict == permissions.Allow || d.Layer == permissions.LayerJudge {
		return d, byJudge, nil
	}
	return d, "", nil
}

// question is what the judge is told about a subject.
func (g *Gate) question(s *Subject) judge.Question {
	policy := g.Policies.Now().Policy
	q := judge.Question{
		InputHash:  s.Call.Binding(),
		Tool:       s.Call.Tool,
		Plugin:     s.Call.Origin.Plugin,
		Capability: s.Operation,
		Title:      s.Call.Title,
		Text:       string(s.Call.Input),
		Accesses:   s.Accesses,
		Unknown:    s.Call.Effects != permissions.EffectsListed && s.Operation == "",
		Cwd:        s.Call.Cwd,
		Dirs:       policy.WorkingDirs(),
	}
	if text := s.Call.classifier(); text != "" && s.Call.Origin.Builtin {
		q.Text = text
	} else {
		q.Claim = text
	}
	for _, r := range policy.Rules() {
		q.Rules = append(q.Rules, r.Verdict.String()+" "+r.String())
	}
	return q
}
