package task

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// stopPlan is one task.stop.
type stopPlan struct {
	capability.OfSession
	scope capability.Scope
	id    string
}

func planStop(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.TaskArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	if args.ID == "" {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the id of the task is missing")
	}
	if scope.Rehearse {
		return nil, abi.Errorf(abi.CodeUnsupported, "what becomes of a task that is ended is known when it was")
	}
	return &stopPlan{targetTasks, scope, args.ID}, nil
}

// Do ends the task.
func (p *stopPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	if err := may(ctx, &p.scope, p.id); err != nil {
		return abi.Answer{}, err
	}
	t, err := p.scope.Tasks.Stop(ctx, p.id)
	if err != nil {
		return abi.Answer{}, err
	}
	return abi.Answer{OK: answerOf(&t)}, nil
}
