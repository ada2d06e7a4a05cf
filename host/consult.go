package host

import (
	"cmp"
	"context"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/judge"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
)

// consult asks the judge where its answer would decide, and decides again, by the
// rules as they are by then. It says who decided, where it was not the rules.
func (g *gate) consult(ctx context.Context, m *matter, d permissions.Decision) (permissions.Decision, string, error) {
	if d.Need&permissions.NeedJudge == 0 || g.call.session().judge == nil {
		if m.operation == "" {
			g.call.unthink()
		}
		return d, "", nil
	}
	answer := g.speculate(ctx, m).Answer(ctx)
	if ctx.Err() != nil {
		return d, "", cancelled(ctx)
	}
	if answer.Err != nil {
		g.call.warn("%s", answer.Reason)
	}
	m.judge = &permissions.JudgeAnswer{InputHash: answer.InputHash, Verdict: answer.Verdict, Reason: answer.Reason}
	g.renew()
	if d = g.decide(m); d.Verdict == permissions.Allow || d.Layer == permissions.LayerJudge {
		return d, byJudge, nil
	}
	return d, "", nil
}

// speculate has the judge think about a matter, unless it does already. What it
// thinks of another input, or of other effects, is let go.
func (g *gate) speculate(ctx context.Context, m *matter) *judge.Pending {
	c, q := g.call, g.question(m)
	if m.operation != "" {
		return c.session().judge.Speculate(ctx, q)
	}
	if c.pending == nil || !c.pending.About(q) {
		c.unthink()
		c.pending = c.session().judge.Speculate(ctx, q)
	}
	return c.pending
}

// unthink lets go of what the judge thinks about, which nobody needs any more.
func (c *call) unthink() {
	if c.pending != nil {
		c.pending.Cancel()
		c.pending = nil
	}
}

// question is what the judge is told of a matter.
func (g *gate) question(m *matter) judge.Question {
	c, policy := g.call, g.policy()
	q := judge.Question{
		InputHash:  c.binding(),
		Tool:       c.tool.contract().Name,
		Plugin:     c.tool.source().plugin,
		Capability: m.operation,
		Title:      c.title,
		Text:       string(c.input),
		Accesses:   m.accesses,
		Unknown:    c.effects() != permissions.EffectsListed && m.operation == "",
		Cwd:        g.view.cwd,
		Dirs:       policy.WorkingDirs(),
	}
	for _, r := range policy.Rules() {
		q.Rules = append(q.Rules, r.Verdict.String()+" "+r.String())
	}
	return q
}

// unheard reports whether nobody wants to know of decisions.
func (g *gate) unheard() bool {
	return !g.call.turn.told() && g.call.session().host.options.Log == nil
}

// Who decided what the rules left open, as the log names them. A grant has its ID
// behind the word.
const (
	byPerson = "person"
	byNobody = "nobody"
	byHook   = "hook"
	byJudge  = "judge"
	byGrant  = "grant "
)

// record logs a decision before it takes effect, and tells of it. An error means
// that it must not take effect.
func (g *gate) record(m *matter, d *permissions.Decision, by string) error {
	if err := g.log(m, d, by); err != nil {
		return err
	}
	m.decided = m.decided || d.Verdict != permissions.Ask
	g.call.decided(m.operation, *d)
	return nil
}

// decided tells of a decision on the call, or on one of its capability calls.
func (c *call) decided(capability string, d permissions.Decision) {
	if c.turn.told() {
		told := d // only here, so that it is made for those who are told
		c.event(Event{Kind: EventDecided, Capability: capability, Decision: &told})
	}
}

// unanswered logs how a question ended that was not decided: it was withdrawn, since
// the call or its turn was over, was left for later, was not put after all, or the person
// answered with another input. So each question in the log has an end.
func (g *gate) unanswered(m *matter, why error) {
	if m.decided || why == nil {
		return
	}
	by, said := byNobody, "nobody answered: "+why.Error()
	if r, ok := errors.AsType[*rewritten](why); ok && r.byPerson {
		by, said = byPerson, "the person wrote another input, on which is decided instead"
	}
	d := g.decide(m)
	d.Finding = permissions.Finding{Verdict: permissions.Deny, Layer: permissions.LayerApproval, Access: d.Access, Why: said}
	_ = g.record(m, &d, by) // nothing takes effect, and a log that fails has been told of
}

func (g *gate) log(m *matter, d *permissions.Decision, by string) error {
	o := &g.call.session().host.options
	if o.Log == nil {
		return nil
	}
	e := audit.Of(d)
	e.Judged(m.accesses)
	e.Session, e.Call = g.call.session().id, g.call.use.ID
	e.Plugin, e.Capability = g.call.tool.source().plugin, m.operation
	e.Mode, e.Binding, e.By = g.policy().Mode(), g.call.binding(), cmp.Or(by, g.by(d))
	err := o.Log.Append(e)
	if err == nil {
		return nil
	}
	o.Logger.Error("a decision is missing in the log", "error", err)
	if o.LogRequired && d.Verdict != permissions.Deny {
		return abi.Errorf(abi.CodeIO, "the decision could not be logged, and may not take effect unlogged: %w", err)
	}
	return nil
}

// by says who decided, as far as the decision tells.
func (g *gate) by(d *permissions.Decision) string {
	switch d.Layer {
	case permissions.LayerApproval:
		return byPerson
	case permissions.LayerHook:
		return byHook
	case permissions.LayerJudge:
		return byJudge
	}
	if grant, ok := g.now.Load().granted.Granted(d.Rule); ok {
		return byGrant + grant.ID
	}
	return ""
}
