package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

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
	p := g.speculate(ctx, m)
	answer := p.Answer(ctx)
	if ctx.Err() != nil {
		return d, "", cancelled(ctx)
	}
	if answer.Err != nil {
		g.call.consulted.drop(p)
		g.call.warn("%s", answer.Reason)
	}
	m.judge = &permissions.JudgeAnswer{InputHash: answer.InputHash, Verdict: answer.Verdict, Reason: answer.Reason}
	g.renew()
	if d = g.decide(m); d.Verdict == permissions.Allow || d.Layer == permissions.LayerJudge {
		return d, byJudge, nil
	}
	return d, "", nil
}

// consulted are the questions that the judge was asked about one call. Each answer
// counts for the call and for those of its capability calls that have the same effects,
// so that the judge is asked once about each effect.
type consulted struct {
	mu   sync.Mutex
	list []*judge.Pending
}

// speculate has the judge think about a matter, unless it does already, or has. What it
// thinks of another input, or of other effects of the call, is no longer needed. What
// several capability calls wait for ends with the call, not with one of them.
func (g *gate) speculate(ctx context.Context, m *matter) *judge.Pending { //nolint:contextcheck // the call's own outlasts it
	c, q, fits := g.call, g.question(m), (*judge.Pending).Covers
	if m.operation == "" {
		fits = (*judge.Pending).About
	} else if c.running != nil {
		ctx = c.running
	}
	c.consulted.mu.Lock()
	defer c.consulted.mu.Unlock()
	if i := slices.IndexFunc(c.consulted.list, func(p *judge.Pending) bool { return fits(p, q) }); i >= 0 {
		return c.consulted.list[i]
	}
	if m.operation == "" {
		c.consulted.cancel()
	}
	p := c.session().judge.Speculate(ctx, q)
	c.consulted.list = append(c.consulted.list, p)
	return p
}

// drop forgets a question that has no answer.
func (c *consulted) drop(p *judge.Pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(q *judge.Pending) bool { return q == p })
}

// cancel withdraws all questions. The caller holds the mutex.
func (c *consulted) cancel() {
	for _, p := range c.list {
		p.Cancel()
	}
	c.list = nil
}

// unthink withdraws what the judge thinks about, which nobody needs any more.
func (c *call) unthink() {
	c.consulted.mu.Lock()
	defer c.consulted.mu.Unlock()
	c.consulted.cancel()
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
