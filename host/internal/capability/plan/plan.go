package plan

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// Capability answers the operations. It is safe for concurrent use.
type Capability struct{}

var _ capability.Capability = Capability{}

// New returns the capability.
func New() Capability { return Capability{} }

// Names lists the operations.
func (Capability) Names() []string { return []string{abi.CapSessionPlan, abi.CapSessionQuestion} }

// Plan reads the arguments; see [capability.Capability].
func (Capability) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	switch req.Name {
	case abi.CapSessionPlan:
		return planOf(scope, req)
	case abi.CapSessionQuestion:
		return questionOf(scope, req)
	}
	return nil, abi.Errorf(abi.CodeUnsupported, "there is no operation %q", req.Name)
}

func planOf(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.PlanArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	if scope.PlanMode == nil || scope.PlanFile == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "there is no session here that plans")
	}
	switch args.Do {
	case abi.PlanEnter:
		return &enterPlan{"plan", scope}, nil
	case abi.PlanExit:
		if err := askable(&scope); err != nil {
			return nil, err
		}
		return &exitPlan{"plan", scope, args.Proposals}, nil
	}
	return nil, abi.Errorf(abi.CodeInvalidInput, "%s does %q or %q, not %.40q", req.Name, abi.PlanEnter, abi.PlanExit, args.Do)
}

func questionOf(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.QuestionArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	ask := capability.Ask{Choice: &capability.Choice{Questions: args.Questions}}
	if err := ask.Check(); err != nil {
		return nil, err
	}
	if err := askable(&scope); err != nil {
		return nil, err
	}
	return &questionPlan{"question", scope, ask}, nil
}

// askable fails where no person can be asked: in a rehearsal, which asks nobody, too.
func askable(scope *capability.Scope) error {
	if scope.Person == nil || scope.Rehearse {
		return abi.Errorf(abi.CodeUnsupported, "nobody can be asked here")
	}
	return nil
}

// questionPlan is one session.question.
type questionPlan struct {
	capability.OfSession
	scope capability.Scope
	ask   capability.Ask
}

// Do asks.
func (p *questionPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	reply, err := p.scope.Person.Ask(ctx, p.ask)
	if err != nil {
		return abi.Answer{}, err
	}
	if !reply.Accepted {
		return abi.Answer{OK: abi.QuestionOK{Declined: true, Message: reply.Message}}, nil
	}
	chosen, err := p.ask.Choice.Chosen(reply.Content)
	if err != nil {
		return abi.Answer{}, err
	}
	var ok abi.QuestionOK
	for _, q := range p.ask.Choice.Questions {
		ok.Answers = append(ok.Answers, abi.ChoiceAnswer{Question: q.Question, Chosen: chosen.Answers[q.Question], Note: chosen.Notes[q.Question]})
	}
	return abi.Answer{OK: ok}, nil
}
