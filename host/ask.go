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
	options := p.options(q)
	approval := p.approval(q, options)
	tellingOf(p.tell).event(Event{Kind: EventNeedsApproval, Approval: &approval, Capability: q.Subject.Operation})
	answered := make(chan gate.Answer, 1)
	go p.question(ctx, approval, func(said reply) { answered <- p.answer(said, options) })
	return answered
}

// answer is a reply as the gate takes it.
func (p person) answer(said reply, options []RememberOption) gate.Answer {
	if said.err != nil {
		return gate.Answer{Err: said.err}
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
func (p person) approval(q *gate.Question, options []RememberOption) Approval {
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
