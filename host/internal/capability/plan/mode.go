package plan

import (
	"context"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// enterPlan is one session.plan that enters the mode. Nobody is asked: it only tightens.
type enterPlan struct {
	capability.OfSession
	scope capability.Scope
}

// Do changes the mode. A rehearsal says what it would.
func (p *enterPlan) Do(context.Context, capability.Judge) (abi.Answer, error) {
	path, err := p.scope.PlanFile.Path()
	if err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeIO, "there is no place for a plan file, so the mode stays: %w", err)
	}
	already := p.scope.PlanMode.Mode() == permissions.ModePlan
	if !p.scope.Rehearse {
		if already, err = p.scope.PlanMode.Enter(); err != nil {
			return abi.Answer{}, err
		}
	}
	return abi.Answer{OK: abi.PlanOK{Path: path, Mode: string(permissions.ModePlan), Already: already, Agent: agent(&p.scope)}}, nil
}

// agent reports whether the session is another agent's than the main one's.
func agent(scope *capability.Scope) bool {
	return scope.Call.Agent != "" && scope.Call.Agent != permissions.MainAgent
}

// exitPlan is one session.plan that leaves the mode, if the person accepts the plan.
type exitPlan struct {
	capability.OfSession
	scope     capability.Scope
	proposals []abi.PlanProposal
}

// Do shows the plan to the person. What they accept is written to the plan file before the
// mode changes, so that a crash between the two leaves the plan that they accepted.
func (p *exitPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	question, err := p.question()
	if err != nil {
		return abi.Answer{}, err
	}
	reply, err := p.scope.Person.Ask(ctx, capability.Ask{Plan: question})
	if err != nil {
		return abi.Answer{}, err
	}
	ok := abi.PlanOK{Path: question.Path, Agent: agent(&p.scope)}
	if !reply.Accepted {
		ok.Declined, ok.Message, ok.Mode = true, reply.Message, string(p.scope.PlanMode.Mode())
		return abi.Answer{OK: ok}, nil
	}
	said, err := question.Accepted(reply.Content)
	if err != nil {
		return abi.Answer{}, err
	}
	plan := question.Plan
	if said.Plan != nil {
		plan, ok.Edited = *said.Plan, true
	}
	if err := p.keep(ctx, plan); err != nil {
		return abi.Answer{}, err
	}
	if ctx.Err() != nil { // whoever interrupts takes the answer back
		return abi.Answer{}, abi.Errorf(abi.CodeCancelled, "the call was ended, and the mode stays: %w", context.Cause(ctx))
	}
	if err := p.scope.PlanMode.Leave(said.Mode, said.Rules); err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeOf(err), "the person accepted the plan, but the mode stays: %w", err)
	}
	ok.Mode, ok.Rules = string(said.Mode), said.Rules
	return abi.Answer{OK: ok, Body: abi.Bytes([]byte(plan)), BodyType: abi.PartText, Size: int64(len(plan))}, nil
}

// keep has the plan file hold what the person accepted: their own text, or what they were
// shown, if the file was changed meanwhile.
func (p *exitPlan) keep(ctx context.Context, plan string) error {
	if now, err := p.scope.PlanFile.Read(); err == nil && now == plan {
		return nil
	}
	if err := p.scope.PlanFile.Write(ctx, plan); err != nil {
		return abi.Errorf(abi.CodeIO, "the person accepted the plan, but it could not be kept, so the mode stays: %w", err)
	}
	return nil
}

// question is the plan as the person is asked about it. Its errors tell the model what to do.
func (p *exitPlan) question() (*capability.PlanQuestion, error) {
	if mode := p.scope.PlanMode.Mode(); mode != permissions.ModePlan {
		return nil, abi.Errorf(abi.CodeDisabled, "the mode is %s, not %s: there is nothing to leave, so go on with the work; EnterPlanMode begins a plan", mode, permissions.ModePlan)
	}
	path, err := p.scope.PlanFile.Path()
	if err != nil {
		return nil, abi.Errorf(abi.CodeIO, "there is no place for a plan file: %w", err)
	}
	plan, err := p.scope.PlanFile.Read()
	if abi.CodeOf(err) == abi.CodeNotFound {
		return nil, abi.Errorf(abi.CodeNotFound, "there is no plan yet: write it to %s with Write, in Markdown, and call ExitPlanMode again", path)
	}
	if err != nil {
		return nil, abi.Errorf(abi.CodeOf(err), "the plan file cannot be shown: %w", err)
	}
	if strings.TrimSpace(plan) == "" {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the plan file %s is empty: write the plan to it, in Markdown, and call ExitPlanMode again", path)
	}
	modes := p.scope.PlanMode.Into()
	if len(modes) == 0 {
		return nil, abi.Errorf(abi.CodeDenied, "the plan can be accepted into no mode that is open to this session; whoever runs it can change the mode")
	}
	q := &capability.PlanQuestion{Plan: plan, Path: path, Proposals: p.proposals, Modes: modes}
	return q, (&capability.Ask{Plan: q}).Check()
}
