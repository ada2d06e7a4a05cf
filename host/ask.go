package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// ask puts a matter to the person, one question of a call at a time. What they
// allow, this call may do; what they deny, it is not asked about again. A call that
// runs lends its slot meanwhile; one that does not run yet is rehearsed first, so that
// nobody is asked about what would fail.
func (g *gate) ask(ctx context.Context, m *matter) (err error) {
	if m.operation == "" {
		if err := g.rehearse(ctx, m); err != nil {
			return err
		}
		defer m.hide(g.call.session().host.rehearsals)
	}
	g.call.watch.asks(1)
	defer g.call.watch.asks(-1)
	if m.operation == "" {
		return g.askNow(ctx, m)
	}
	g.call.lend(func() { err = g.askNow(ctx, m) })
	if err == nil && ctx.Err() != nil {
		return cancelled(ctx)
	}
	return err
}

func (g *gate) askNow(ctx context.Context, m *matter) error {
	c := g.call
	if err := c.approved.enter(ctx); err != nil {
		return err
	}
	defer c.approved.leave()
	if err := c.approved.refusal(m.accesses); err != nil {
		return g.refused(m, err)
	}
	d, changed := g.again(m)
	if d.Verdict != permissions.Ask {
		return g.settled(m, d) // by an earlier answer, or by rules that came since
	}
	err := g.put(ctx, m, d, changed)
	if err != nil && ctx.Err() == nil && !isRewritten(err) {
		c.approved.refuse(m.accesses, err)
	}
	return err
}

// again judges a matter by the session as it now is. The channel is closed when
// that changes.
func (g *gate) again(m *matter) (permissions.Decision, <-chan struct{}) {
	changed := g.call.session().changes()
	g.renew()
	return g.decide(m), changed
}

// put asks one question, and withdraws it where the rules come to decide it, or the
// call to be over. One goroutine waits for all of that, so one of them counts.
func (g *gate) put(ctx context.Context, m *matter, d permissions.Decision, changed <-chan struct{}) error {
	c := g.call
	request, evidence := g.facts(m)
	x := permissions.Explain(g.policy(), request, evidence)
	offers := g.offers(&x, request, evidence)
	approval := g.approval(m, d, offers)
	approval.Reasons = reasons(&x)
	c.event(Event{Kind: EventNeedsApproval, Approval: &approval, Capability: m.operation})
	open, withdraw := context.WithCancel(ctx)
	defer withdraw()
	answered := c.session().question(open, approval)
	for d.Verdict == permissions.Ask {
		if err := c.begins(); err != nil && m.operation == "" {
			return err
		}
		select {
		case <-changed:
			d, changed = g.again(m)
		case <-ctx.Done():
		case a := <-answered:
			if ctx.Err() == nil {
				return g.answer(m, &approval, offers, a)
			}
		}
		if ctx.Err() != nil {
			return abi.Errorf(abi.CodeCancelled, "the call was cancelled while a person was asked: %w", context.Cause(ctx))
		}
	}
	return g.settled(m, d)
}

// answer is what came of a question.
type answer struct {
	Reply
	err error
}

var errAskerExited = errors.New("the asker ended its goroutine instead of returning")

// question asks the person. An asker that does not heed the end of ctx is left
// behind, and what it says then goes unheard.
func (s *Session) question(ctx context.Context, a Approval) <-chan answer {
	answered := make(chan answer, 1)
	go func() {
		said := answer{err: errAskerExited}
		defer func() {
			if v := recover(); v != nil {
				s.host.options.Logger.Error("the asker panicked", "panic", v, "stack", string(debug.Stack()))
				said = answer{err: fmt.Errorf("the asker panicked: %v", v)}
			}
			answered <- said
		}()
		said.Reply, said.err = s.asker.Ask(ctx, a)
	}()
	return answered
}

// changes is closed with the next change of the session's view, or when a turn is
// stopped.
func (s *Session) changes() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// stir has open questions looked at again.
func (s *Session) stir() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(s.current)
}

// settled is a matter that need not be asked about any more.
func (g *gate) settled(m *matter, d permissions.Decision) error {
	if err := g.record(m, &d, ""); err != nil {
		return err
	}
	if d.Verdict == permissions.Allow {
		return nil
	}
	return refusal(d)
}

// approval is the question, in copies: whoever answers it changes nothing of what
// is judged.
func (g *gate) approval(m *matter, d permissions.Decision, offers []Offer) Approval {
	c := g.call
	a := Approval{
		ID:         rand.Text(),
		Session:    c.session().id,
		Cwd:        g.view.cwd,
		Mode:       g.policy().Mode(),
		CallID:     c.use.ID,
		Tool:       c.tool.contract().Name,
		Plugin:     c.tool.source().plugin,
		Title:      c.title,
		Input:      bytes.Clone(c.input),
		Binding:    c.binding(),
		Capability: m.operation,
		Accesses:   slices.Clone(m.accesses),
		Decision:   &d,
		Asked:      time.Now(),
		Preview:    m.preview,
		Offers:     slices.Clone(offers),

		DenyEndsTurn: c.session().host.options.DenyEndsTurn,
	}
	for i := range a.Offers {
		a.Offers[i].Rules = slices.Clone(a.Offers[i].Rules)
	}
	return a
}

// offers are the ways to allow a matter for longer than once: none where rules
// could not do that.
func (g *gate) offers(x *permissions.Explanation, request permissions.Request, evidence permissions.Evidence) []Offer {
	o := &g.call.session().host.options
	if o.OnceOnly || len(x.Remedy) == 0 {
		return nil
	}
	rules := x.Remedy
	out := []Offer{{Scope: ScopeSession, Rules: rules}}
	for _, scope := range []Scope{ScopeProjectLocal, ScopeProject, ScopeUser} {
		if file := o.Places[scope]; file != "" && o.Remember != nil {
			out = append(out, Offer{Scope: scope, Rules: rules, File: file})
		}
	}
	if every := permissions.EveryEdit(g.policy(), request, evidence); len(every) > 0 {
		out = append(out, Offer{Scope: ScopeEdits, Rules: every})
	}
	return out
}

// answer does what the person said.
func (g *gate) answer(m *matter, a *Approval, offers []Offer, said answer) error {
	switch {
	case said.err != nil:
		return g.unasked(m, said.err)
	case said.Answer == AnswerAllow:
		return g.allowed(m, offers, said.Reply)
	case said.Answer == AnswerLater:
		return abi.Errorf(abi.CodeNeedsApproval, "a person must approve this first (approval %s); nothing was done", a.ID)
	}
	if said.EndTurn {
		g.call.stop("a person denied a call")
	}
	if said.Message != "" {
		return g.refused(m, abi.Errorf(abi.CodeDenied, "the person denied this and says: %s", said.Message))
	}
	return g.refused(m, abi.Errorf(abi.CodeDenied, "the person denied this; do not try it again another way"))
}

// refused records that the person did not allow a matter, and returns why.
func (g *gate) refused(m *matter, why error) error {
	d := g.decide(m)
	d.Finding = permissions.Finding{Verdict: permissions.Deny, Layer: permissions.LayerApproval, Access: d.Access, Why: why.Error()}
	if err := g.record(m, &d, byPerson); err != nil {
		return err
	}
	return why
}

// unasked records that nobody could be asked.
func (g *gate) unasked(m *matter, why error) error {
	d := g.decide(m)
	d.Verdict, d.Headless = permissions.Deny, true
	if err := g.record(m, &d, ""); err != nil {
		return err
	}
	return abi.Errorf(abi.CodeDenied, "the person could not be asked, so it is denied: %w", why)
}

// allowed takes what the person allowed, and looks once more whether no rule
// that came meanwhile denies it.
func (g *gate) allowed(m *matter, offers []Offer, r Reply) error {
	if r.Remember != nil {
		g.remember(offers, r.Remember)
	}
	if m.operation == "" && g.call.differs(r.Input) {
		return &rewritten{input: r.Input, byPerson: true}
	}
	g.call.approved.add(m.accesses)
	g.renew()
	d := g.decide(m)
	by := ""
	if d.Verdict == permissions.Allow {
		by = byPerson
	}
	if err := g.record(m, &d, by); err != nil {
		return err
	}
	switch d.Verdict {
	case permissions.Allow:
		return nil
	case permissions.Ask:
		return abi.Errorf(abi.CodeNeedsApproval, "more was to be approved than was shown; nothing was done")
	}
	return refusal(d)
}

// differs reports whether an input is given that is another than the call's.
func (c *call) differs(input []byte) bool {
	if len(input) == 0 {
		return false
	}
	canonical, err := abi.Canonical(input)
	return err != nil || !bytes.Equal(canonical, c.input)
}

// remember keeps an offer that the person took. Where that fails this call is
// allowed all the same: it is what they said.
func (g *gate) remember(offers []Offer, taken *Offer) {
	err := errNoOffer
	if at := slices.IndexFunc(offers, taken.same); at >= 0 {
		err = g.call.session().allow(&offers[at])
	}
	if err != nil {
		g.call.warn("it is allowed this once only: the rule could not be kept: %v", err)
	}
}

func (o *Offer) same(p Offer) bool {
	return o.Scope == p.Scope && o.File == p.File && slices.Equal(o.Rules, p.Rules)
}

// allow puts the rules of an offer into force, at once for this session and,
// where the offer has a file, in that.
func (s *Session) allow(o *Offer) error {
	if o.File != "" {
		if err := s.host.options.Remember(*o); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	given := given{rules: permissions.RuleSet{Source: permissions.SourceSession, Allow: permissions.RuleTexts(o.Rules...)}}
	if o.File != "" {
		given.beside = s.host.settings.Load()
	}
	policy, err := s.adding(s.current.policy, given.rules)
	if err != nil {
		return err
	}
	s.given = append(s.given, given)
	s.change(policy)
	return nil
}

// given are allow rules that the person gave.
type given struct {
	rules permissions.RuleSet
	// beside is set where they were written to a file, which these settings do not
	// know yet. Later ones do, and who takes them out of the file means it.
	beside *Settings
}

// rewritten is not a failure: the call is to begin anew with another input.
type rewritten struct {
	input    []byte
	byPerson bool
}

func (*rewritten) Error() string { return "the input was written anew" }

func isRewritten(err error) bool {
	_, ok := errors.AsType[*rewritten](err)
	return ok
}
