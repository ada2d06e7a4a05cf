package gate

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Asker asks a person.
type Asker interface {
	// Ask puts a question. The channel brings one answer, unless ctx ends first.
	Ask(ctx context.Context, q *Question) <-chan Answer
	// Waiting runs do, during which a person may be waited for.
	Waiting(s *Subject, do func())
	// Closed returns why no more questions are put, or nil.
	Closed() error
}

// Question asks a person about a subject. Nothing in it may be changed.
type Question struct {
	// ID names the question, so that it can be answered later.
	ID       string
	Subject  *Subject
	Policy   *permissions.Policy
	Decision permissions.Decision
	// Explanation is everything that asks, and EveryEdit the rules that would allow all
	// edits like it; none where it is not about edits.
	Explanation permissions.Explanation
	EveryEdit   []string
}

// Answer is what a person said.
type Answer struct {
	// Err says why the person could not be asked.
	Err error
	// Allow allows the subject; Later leaves it open. Else it is denied.
	Allow, Later bool
	// Message, with a denial, is for the model.
	Message string
	// Input, with Allow, takes the place of the call's.
	Input json.RawMessage
	// Effect, if not nil, does what the person wants besides, such as to remember the
	// answer as a rule. It is called once the answer counts, before the rules are
	// looked at again.
	Effect func()
}

// Rewritten is not a failure: the call is to begin anew with another input, which a hook
// or the person wrote.
type Rewritten struct {
	Input    json.RawMessage
	ByPerson bool
}

func (*Rewritten) Error() string { return "the input was rewritten" }

func isRewritten(err error) bool {
	_, ok := errors.AsType[*Rewritten](err)
	return ok
}

// Cancelled is the end of ctx as an error for the model.
func Cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	if known, ok := errors.AsType[*abi.Error](cause); ok {
		return known
	}
	return abi.Errorf(abi.CodeCancelled, "the call was cancelled: %w", cause)
}

// ask puts a subject to the person, one question of a call at a time. What they allow,
// this call may do; what they deny, it is not asked about again.
func (g *Gate) ask(ctx context.Context, s *Subject) (err error) {
	if s.Rehearse != nil {
		done, err := s.Rehearse(ctx, s)
		if err != nil {
			return err
		}
		defer done()
	}
	g.Asker.Waiting(s, func() { err = g.askNow(ctx, s) })
	if err == nil && s.Operation != "" && ctx.Err() != nil {
		return Cancelled(ctx)
	}
	return err
}

func (g *Gate) askNow(ctx context.Context, s *Subject) error {
	if err := g.Approvals.enter(ctx); err != nil {
		return err
	}
	defer g.Approvals.leave()
	if err := g.Approvals.denial(s.Accesses); err != nil {
		return g.refused(s, err)
	}
	d, changed := g.again(s)
	if d.Verdict != permissions.Ask {
		return g.settled(s, d) // by an earlier answer, or by rules that came since
	}
	err := g.put(ctx, s, d, changed)
	if err != nil && ctx.Err() == nil && !isRewritten(err) {
		g.Approvals.deny(s.Accesses, err)
	}
	return err
}

// again decides by the rules and files as they are by now. The channel is closed when the
// rules change.
func (g *Gate) again(s *Subject) (permissions.Decision, <-chan struct{}) {
	changed := g.Policies.Changed()
	g.Policies.Renew()
	s.Recheck()
	return g.Decide(s), changed
}

// put asks one question, and withdraws it where the rules come to decide it or the call
// is over. One goroutine waits for all of that, so one of them counts.
func (g *Gate) put(ctx context.Context, s *Subject, d permissions.Decision, changed <-chan struct{}) error {
	q := g.newQuestion(s, d)
	open, withdraw := context.WithCancel(ctx)
	defer withdraw()
	answered := g.Asker.Ask(open, q)
	for d.Verdict == permissions.Ask {
		if err := g.Asker.Closed(); err != nil && s.Operation == "" {
			return err
		}
		select {
		case <-changed:
			d, changed = g.again(s)
		case <-ctx.Done():
		case a := <-answered:
			if ctx.Err() == nil {
				return g.answer(s, q, a)
			}
		}
		if ctx.Err() != nil {
			return abi.Errorf(abi.CodeCancelled, "the call was cancelled while a person was asked: %w", context.Cause(ctx))
		}
	}
	return g.settled(s, d)
}

func (g *Gate) newQuestion(s *Subject, d permissions.Decision) *Question {
	request, evidence := g.facts(s)
	policy := g.Policies.Now().Policy
	q := &Question{ID: rand.Text(), Subject: s, Policy: policy, Decision: d}
	q.Explanation = permissions.Explain(policy, request, evidence)
	q.EveryEdit = permissions.EveryEdit(policy, request, evidence)
	return q
}

// settled is a subject that need not be asked about any more.
func (g *Gate) settled(s *Subject, d permissions.Decision) error {
	if err := g.record(s, &d, ""); err != nil {
		return err
	}
	if d.Verdict == permissions.Allow {
		return nil
	}
	return Refusal(d)
}

// answer does what the person said.
func (g *Gate) answer(s *Subject, q *Question, a Answer) error {
	if a.Effect != nil {
		a.Effect()
	}
	switch {
	case a.Err != nil:
		return g.unasked(s, a.Err)
	case a.Allow:
		return g.allowed(s, a.Input)
	case a.Later:
		return abi.Errorf(abi.CodeNeedsApproval, "a person must approve this first (approval %s); nothing was done", q.ID)
	case a.Message != "":
		return g.refused(s, abi.Errorf(abi.CodeDenied, "the person denied this and says: %s", a.Message))
	}
	return g.refused(s, abi.Errorf(abi.CodeDenied, "the person denied this; do not try it again another way"))
}

// refused records that the person did not allow a subject, and returns why.
func (g *Gate) refused(s *Subject, why error) error {
	d := g.Decide(s)
	d.Finding = permissions.Finding{Verdict: permissions.Deny, Layer: permissions.LayerApproval, Access: d.Access, Why: why.Error()}
	if err := g.record(s, &d, byPerson); err != nil {
		return err
	}
	return why
}

// unasked records that nobody could be asked.
func (g *Gate) unasked(s *Subject, why error) error {
	d := g.Decide(s)
	d.Verdict, d.Headless = permissions.Deny, true
	if err := g.record(s, &d, ""); err != nil {
		return err
	}
	return abi.Errorf(abi.CodeDenied, "the person could not be asked, so it is denied: %w", why)
}

// allowed takes what the person allowed, and looks once more whether a rule that came
// meanwhile denies it.
func (g *Gate) allowed(s *Subject, input json.RawMessage) error {
	if s.Operation == "" && s.Call.differs(input) {
		return &Rewritten{Input: input, ByPerson: true}
	}
	g.Approvals.Allow(s.Accesses)
	g.Policies.Renew()
	s.Recheck()
	d := g.Decide(s)
	by := ""
	if d.Verdict == permissions.Allow {
		by = byPerson
	}
	if err := g.record(s, &d, by); err != nil {
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

// differs reports whether an input is given that is another than the call's.
func (c *Call) differs(input []byte) bool {
	if len(input) == 0 {
		return false
	}
	canonical, err := abi.Canonical(input)
	return err != nil || !bytes.Equal(canonical, c.Input)
}
