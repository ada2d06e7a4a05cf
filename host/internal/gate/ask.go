package gate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// asking is a subject that a person is asked about.
type asking struct {
	*Gate
	s *Subject
}

// ask puts the subject to the person, one question of a call at a time. What they allow,
// this call may do; what they deny, it is not asked about again.
func (g asking) ask(ctx context.Context) (err error) {
	s := g.s
	if s.Rehearse != nil {
		done, err := s.Rehearse(ctx, s)
		if done != nil {
			defer done()
		}
		if stood, ok := errors.AsType[*Stood](err); ok {
			if settled, err := g.stood(stood); settled {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	g.Asker.Waiting(s, func() { err = g.askNow(ctx) })
	if err == nil && s.Operation != "" && ctx.Err() != nil {
		return Cancelled(ctx)
	}
	return err
}

func (g asking) askNow(ctx context.Context) error {
	s := g.s
	if err := g.Approvals.enter(ctx); err != nil {
		return err
	}
	defer g.Approvals.leave()
	if err := g.Approvals.denial(s.Accesses); err != nil {
		return g.refused(err)
	}
	d, changed := g.again()
	if d.Verdict != permissions.Ask {
		return g.settled(d) // by an earlier answer, or by rules that came since
	}
	err := g.put(ctx, d, changed)
	if err != nil && ctx.Err() == nil && !isRewritten(err) && !errors.Is(err, errNobody) {
		g.Approvals.deny(s.Accesses, err)
	}
	return err
}

// again decides by the rules and files as they are by now. The channel is closed when the
// rules change.
func (g asking) again() (permissions.Decision, <-chan struct{}) {
	changed := g.Policies.Changed()
	g.Policies.Renew()
	g.s.Recheck()
	return g.Decide(g.s), changed
}

// put asks one question, and withdraws it where the rules come to decide it or the call
// is over. One goroutine waits for all of that, so one of them counts.
func (g asking) put(ctx context.Context, d permissions.Decision, changed <-chan struct{}) error {
	q := g.newQuestion(d)
	open, withdraw := context.WithCancel(ctx)
	defer withdraw()
	answered := g.Asker.Ask(open, q)
	for d.Verdict == permissions.Ask {
		if err := g.Asker.Closed(); err != nil && g.s.Operation == "" {
			return err
		}
		select {
		case <-changed:
			d, changed = g.again()
		case <-ctx.Done():
		case a := <-answered:
			if ctx.Err() == nil {
				return g.answer(q, a)
			}
		}
		if ctx.Err() != nil {
			return abi.Errorf(abi.CodeCancelled, "the call was cancelled while a person was asked: %w", context.Cause(ctx))
		}
	}
	return g.settled(d)
}

func (g asking) newQuestion(d permissions.Decision) *Question {
	policy := g.Policies.Now().Policy
	request, evidence := g.facts(policy, g.s)
	q := &Question{ID: rand.Text(), Subject: g.s, Policy: policy, Decision: d}
	q.Explanation = permissions.Explain(policy, request, evidence)
	if o := g.s.Offer; o != nil {
		q.Explanation.Asks, q.Explanation.Remedy = []permissions.Finding{o.finding(g.s)}, o.Rules
		return q
	}
	q.EveryEdit = permissions.EveryEdit(policy, request, evidence)
	return q
}

// settled is a subject that need not be asked about any more.
func (g asking) settled(d permissions.Decision) error {
	if err := g.record(g.s, &d, ""); err != nil {
		return err
	}
	if d.Verdict == permissions.Allow {
		return nil
	}
	return Refusal(d)
}

// answer does what the person said.
func (g asking) answer(q *Question, a Answer) error {
	if a.Effect != nil {
		a.Effect()
	}
	switch {
	case a.Err != nil:
		return g.unasked(a)
	case a.Allow:
		return g.allowed(a.Input)
	case a.Later:
		return abi.Errorf(abi.CodeNeedsApproval, "a person must approve this first (approval %s); nothing was done", q.ID)
	case a.Message != "":
		return g.refused(abi.Errorf(abi.CodeDenied, "the person denied this and says: %s", a.Message))
	}
	return g.refused(abi.Errorf(abi.CodeDenied, "the person denied this; do not try it again another way"))
}

// refused records that the person did not allow a subject, and returns why.
func (g asking) refused(why error) error {
	d := g.Decide(g.s)
	d.Finding = permissions.Finding{Verdict: permissions.Deny, Layer: permissions.LayerApproval, Access: d.Access, Why: why.Error()}
	if err := g.record(g.s, &d, byPerson); err != nil {
		return err
	}
	return why
}

// errNobody is that of an offer that turned out to have nobody to make it to.
var errNobody = errors.New("there is nobody to ask")

// unasked records that the person could not be asked. Where there is nobody who could be, it is
// as in a headless session: the denial names the rule that would spare the question.
func (g asking) unasked(a Answer) error {
	d := g.Decide(g.s)
	d.Verdict, d.Headless = permissions.Deny, true
	if err := g.record(g.s, &d, ""); err != nil {
		return err
	}
	switch {
	case a.Nobody && g.s.Offer != nil:
		return errNobody
	case a.Nobody:
		return Refusal(d)
	}
	return abi.Errorf(abi.CodeDenied, "the person could not be asked, so it is denied: %w", a.Err)
}

// allowed takes what the person allowed, and looks once more whether a rule that came
// meanwhile denies it.
func (g asking) allowed(input json.RawMessage) error {
	if g.s.Operation == "" && g.s.Call.differs(input) {
		return &Rewritten{Input: input, ByPerson: true}
	}
	g.Approvals.Allow(g.s.Accesses)
	g.Policies.Renew()
	g.s.Recheck()
	d := g.Decide(g.s)
	by := ""
	if d.Verdict == permissions.Allow {
		by = byPerson
	}
	if err := g.record(g.s, &d, by); err != nil {
		return err
	}
	switch d.Verdict {
	case permissions.Allow:
		return nil
	case permissions.Ask:
		return abi.Errorf(abi.CodeNeedsApproval, "more was to be approved than was shown; nothing was done")
	}
	return Refusal(d)
}
