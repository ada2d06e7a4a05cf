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
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/session"
	"github.com/toolquay/toolquay/permissions"
)

// person is whoever a session works for, asked about one call.
type person struct {
	of   *Session
	turn *session.Turn
	call string
	tell pipeline.Teller
}

// carries reports whether the session's person can be asked questions of some kind now.
func (s *Session) carries(kinds ...QuestionKind) bool {
	asker := s.options.Asker
	return asker != nil && slices.ContainsFunc(kinds, asker.Carries)
}

// unanswerable says that nobody can answer questions of a kind.
func unanswerable(kind QuestionKind) error {
	return abi.Errorf(abi.CodeUnsupported, "a question of the kind %s has no answer here: %w", kind, ErrNobody)
}

// head is a question without what is asked.
func (p person) head(kind QuestionKind, id string, about *gate.Call, mode permissions.Mode) Question {
	q := Question{
		ID: id, Kind: kind, Session: p.of.id, Turn: p.turn.ID(), Caller: p.turn.Caller(), Call: p.call,
		Tool: about.Tool, Plugin: about.Origin.Plugin, Server: about.Origin.Server, Title: about.Title,
		Input: bytes.Clone(about.Input), Binding: about.Binding(), Cwd: about.Cwd, Mode: mode, Asked: time.Now(),
	}
	if about.Shown != nil {
		q.Line = about.Shown.Use()
	}
	return q
}

// ask puts a question for an approval to the session's asker.
func (p person) ask(ctx context.Context, q *gate.Question) <-chan gate.Answer {
	options := p.options(q)
	asked := p.head(QuestionApproval, q.ID, q.Subject.Call, q.Policy.Mode())
	approval := p.approval(&asked, q, options)
	asked.Approval = &approval
	told, shown := asked, approval // copies for those who follow
	told.Approval = &shown
	tellingOf(p.tell).event(Event{Kind: EventQuestion, Question: &told, Line: asked.Line, Capability: q.Subject.Operation})
	answered := make(chan gate.Answer, 1)
	go p.question(ctx, asked, func(said reply) { answered <- p.answer(said, options) })
	return answered
}

// askMore puts what a call asks to the session's asker, and waits for the answer.
func (p person) askMore(ctx context.Context, asks *pipeline.Question) (capability.Reply, error) {
	if err := asks.Check(); err != nil {
		return capability.Reply{}, err
	}
	q := p.head(asks.AskedKind(), rand.Text(), asks.About, asks.Mode)
	q.Ask = asks.Clone()
	if q.Plan != nil {
		q.Plan.NoRules = q.Plan.NoRules || p.of.host.options.Permissions.OnceOnly || p.of.core.Rules.View().Settings.OnlyPolicyRules
	}
	if !p.of.carries(q.Kind) {
		return capability.Reply{}, unanswerable(q.Kind)
	}
	tellingOf(p.tell).inTime(Event{Kind: EventQuestion, Question: &q, Line: q.Line})
	forAsker := q // who changes nothing of what others have
	forAsker.Input, forAsker.Ask = bytes.Clone(q.Input), q.Clone()
	said := p.await(ctx, forAsker)
	tellingOf(p.tell).inTime(Event{Kind: EventAnswered, Question: &q, Answer: said.Answer, Err: said.err})
	return said.more(&q)
}

// await waits for the answer to a question, or for the end of ctx.
func (p person) await(ctx context.Context, q Question) reply {
	answered := make(chan reply, 1)
	go p.question(ctx, q, func(said reply) { answered <- said })
	select {
	case said := <-answered:
		return said
	case <-ctx.Done():
		return reply{err: gate.Cancelled(ctx)}
	}
}

// more is a reply as the call gets it that asked.
func (r reply) more(q *Question) (capability.Reply, error) {
	switch {
	case errors.Is(r.err, ErrNobody):
		return capability.Reply{}, unanswerable(q.Kind)
	case r.err != nil:
		return capability.Reply{}, abi.Errorf(abi.CodeCancelled, "the person gave no answer: %w", r.err)
	case r.Answer == AnswerLater:
		return capability.Reply{}, abi.Errorf(abi.CodeNeedsApproval, "a person must answer this first (question %s)", q.ID)
	case r.Answer != AnswerAllow:
		return capability.Reply{Message: r.Message}, nil
	}
	content, err := q.Accept(r.Content)
	if err != nil {
		return capability.Reply{}, abi.Errorf(abi.CodeInvalidInput, "the person's answer does not fit the question: %w", err)
	}
	return capability.Reply{Accepted: true, Content: content}, nil
}

// answer is a reply as the gate takes it.
func (p person) answer(said reply, options []RememberOption) gate.Answer {
	if said.err != nil {
		return gate.Answer{Err: said.err, Nobody: errors.Is(said.err, ErrNobody)}
	}
	switch said.Answer {
	case AnswerAllow:
		a := gate.Answer{Allow: true, Input: said.Input}
		if said.Remember != nil {
			a.Effect = func() { p.remember(options, said.Remember) }
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
func (p person) question(ctx context.Context, q Question, take func(reply)) {
	said := reply{err: errAskerExited}
	defer func() {
		if v := recover(); v != nil {
			p.of.host.options.Observe.Logger.Error("the asker panicked", "panic", v, "stack", string(debug.Stack()))
			said = reply{err: fmt.Errorf("the asker panicked: %v", v)}
		}
		take(said)
	}()
	said.Reply, said.err = p.of.options.Asker.Ask(ctx, q)
}

// approval is the question, in copies: whoever answers it changes nothing of what
// is judged.
func (p person) approval(asked *Question, q *gate.Question, options []RememberOption) Approval {
	s, d := q.Subject, q.Decision
	a := Approval{
		ID:         q.ID,
		Session:    asked.Session,
		Cwd:        asked.Cwd,
		Mode:       asked.Mode,
		CallID:     asked.Call,
		Tool:       asked.Tool,
		Plugin:     asked.Plugin,
		Server:     asked.Server,
		Title:      asked.Title,
		Line:       asked.Line,
		Input:      asked.Input,
		Binding:    asked.Binding,
		Capability: s.Operation,
		Accesses:   slices.Clone(s.Accesses),
		Decision:   &d,
		Reasons:    q.Reasons(),
		Asked:      asked.Asked,
		Preview:    s.Preview,
		Tried:      s.Tried != "",
		Remember:   slices.Clone(options),

		DenyEndsTurn: p.of.host.options.Permissions.DenyEndsTurn && s.Offer == nil,
	}
	for i := range a.Remember {
		a.Remember[i].Rules, a.Remember[i].Outside = slices.Clone(a.Remember[i].Rules), slices.Clone(a.Remember[i].Outside)
	}
	return a
}

// options are the ways to allow a subject for longer than once: none where rules
// could not do that.
func (p person) options(q *gate.Question) []RememberOption {
	o := &p.of.host.options
	if leave := q.Explanation.Leave; leave != nil && !o.Permissions.OnceOnly {
		file := o.Permissions.RuleTargets[TargetUser]
		if file == "" || o.Permissions.Remember == nil || o.Permissions.OnlyPolicyRules {
			return nil
		}
		return []RememberOption{{Target: TargetUser, Rules: leave.Rules, Outside: leave.Outside, File: file}}
	}
	if o.Permissions.OnceOnly || len(q.Explanation.Remedy) == 0 {
		return nil
	}
	rules := q.Explanation.Remedy
	out := []RememberOption{{Target: TargetSession, Rules: rules}}
	for _, target := range []RuleTarget{TargetProjectLocal, TargetProject, TargetUser} {
		if file := o.Permissions.RuleTargets[target]; file != "" && o.Permissions.Remember != nil {
			out = append(out, RememberOption{Target: target, Rules: rules, File: file})
		}
	}
	if len(q.EveryEdit) > 0 {
		out = append(out, RememberOption{Target: TargetEdits, Rules: q.EveryEdit})
	}
	return out
}

var errNoOffer = errors.New("the rule was not offered")

// remember keeps an option that the person took. Where that fails this call is
// allowed all the same: it is what they said.
func (p person) remember(options []RememberOption, taken *RememberOption) {
	err := errNoOffer
	if at := slices.IndexFunc(options, taken.same); at >= 0 {
		err = p.allow(&options[at])
	}
	if err != nil {
		tellingOf(p.tell).warn("it is allowed this once only: the rule could not be kept: %v", err)
	}
}

func (o *RememberOption) same(p RememberOption) bool {
	return o.Target == p.Target && o.File == p.File && slices.Equal(o.Rules, p.Rules) && slices.Equal(o.Outside, p.Outside)
}

// allow puts the rules of an option into force, at once for this session and,
// where the option has a file, in that.
func (p person) allow(o *RememberOption) error {
	if o.File != "" {
		if err := p.of.host.options.Permissions.Remember(*o); err != nil {
			return err
		}
	}
	return p.of.core.Rules.Allow(o.Rules, o.Outside, o.File != "")
}
