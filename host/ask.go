package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/session"
)

// person is whoever a session works for, asked about one call.
type person struct {
	of   *Session
	turn *session.Turn
	call string
	tell pipeline.Teller
}

// ask puts a question to the session's asker.
func (p person) ask(ctx context.Context, q *gate.Question) <-chan gate.Answer {
	offers := p.offers(q)
	approval := p.approval(q, offers)
	tellingOf(p.tell).event(Event{Kind: EventNeedsApproval, Approval: &approval, Capability: q.Subject.Operation})
	answered := make(chan gate.Answer, 1)
	go p.question(ctx, approval, func(said reply) { answered <- p.answer(said, offers) })
	return answered
}

// answer is a reply as the gate takes it.
func (p person) answer(said reply, offers []Offer) gate.Answer {
	if said.err != nil {
		return gate.Answer{Err: said.err}
	}
	switch said.Answer {
	case AnswerAllow:
		a := gate.Answer{Allow: true, Input: said.Input}
		if said.Remember != nil {
			a.Effect = func() { p.remember(offers, said.Remember) }
		}
		return a
	case AnswerLater:
		return gate.Answer{Later: true}
	}
	a := gate.Answer{Message: said.Message}
	if said.EndTurn {
		a.Effect = func() { p.turn.Stop(p.tell, "a person denied a call") }
	}
	return a
}

// reply is what came of a question.
type reply struct {
	Reply
	err error
}

var errAskerExited = errors.New("the asker ended its goroutine instead of returning")

// question asks the person, on the caller's goroutine, and hands over the reply in any
// case. An asker that ignores the end of ctx is left behind, and not heard any more.
func (p person) question(ctx context.Context, a Approval, take func(reply)) {
	said := reply{err: errAskerExited}
	defer func() {
		if v := recover(); v != nil {
			p.of.host.options.Observe.Logger.Error("the asker panicked", "panic", v, "stack", string(debug.Stack()))
			said = reply{err: fmt.Errorf("the asker panicked: %v", v)}
		}
		take(said)
	}()
	said.Reply, said.err = p.of.options.Asker.Ask(ctx, a)
}

// approval is the question, in copies: whoever answers it changes nothing of what
// is judged.
func (p person) approval(q *gate.Question, offers []Offer) Approval {
	s, d := q.Subject, q.Decision
	a := Approval{
		ID:         q.ID,
		Session:    p.of.id,
		Cwd:        s.Call.Cwd,
		Mode:       q.Policy.Mode(),
		CallID:     p.call,
		Tool:       s.Call.Tool,
		Plugin:     s.Call.Origin.Plugin,
		Title:      s.Call.Title,
		Input:      bytes.Clone(s.Call.Input),
		Binding:    s.Call.Binding(),
		Capability: s.Operation,
		Accesses:   slices.Clone(s.Accesses),
		Decision:   &d,
		Reasons:    q.Reasons(),
		Asked:      time.Now(),
		Preview:    s.Preview,
		Offers:     slices.Clone(offers),

		DenyEndsTurn: p.of.host.options.Permissions.DenyEndsTurn,
	}
	for i := range a.Offers {
		a.Offers[i].Rules = slices.Clone(a.Offers[i].Rules)
	}
	return a
}

// offers are the ways to allow a subject for longer than once: none where rules
// could not do that.
func (p person) offers(q *gate.Question) []Offer {
	o := &p.of.host.options
	if o.Permissions.OnceOnly || len(q.Explanation.Remedy) == 0 {
		return nil
	}
	rules := q.Explanation.Remedy
	out := []Offer{{Scope: ScopeSession, Rules: rules}}
	for _, scope := range []Scope{ScopeProjectLocal, ScopeProject, ScopeUser} {
		if file := o.Permissions.RuleTargets[scope]; file != "" && o.Permissions.Remember != nil {
			out = append(out, Offer{Scope: scope, Rules: rules, File: file})
		}
	}
	if len(q.EveryEdit) > 0 {
		out = append(out, Offer{Scope: ScopeEdits, Rules: q.EveryEdit})
	}
	return out
}

var errNoOffer = errors.New("the rule was not offered")

// remember keeps an offer that the person took. Where that fails this call is
// allowed all the same: it is what they said.
func (p person) remember(offers []Offer, taken *Offer) {
	err := errNoOffer
	if at := slices.IndexFunc(offers, taken.same); at >= 0 {
		err = p.allow(&offers[at])
	}
	if err != nil {
		tellingOf(p.tell).warn("it is allowed this once only: the rule could not be kept: %v", err)
	}
}

func (o *Offer) same(p Offer) bool {
	return o.Scope == p.Scope && o.File == p.File && slices.Equal(o.Rules, p.Rules)
}

// allow puts the rules of an offer into force, at once for this session and,
// where the offer has a file, in that.
func (p person) allow(o *Offer) error {
	if o.File != "" {
		if err := p.of.host.options.Permissions.Remember(*o); err != nil {
			return err
		}
	}
	return p.of.core.Rules.Allow(o.Rules, o.File != "")
}
