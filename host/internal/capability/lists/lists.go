package lists

import (
	"context"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// Capability answers the operations on lists of work. It is safe for concurrent use.
type Capability struct{}

var _ capability.Capability = Capability{}

// New returns the capability.
func New() Capability { return Capability{} }

// Names lists the operations.
func (Capability) Names() []string { return []string{abi.CapSessionTodo, abi.CapSessionTask} }

// Plan reads the request; see [capability.Capability]. A rehearsal changes nothing, and what
// would become of a change is known when it is made.
func (Capability) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	if scope.Lists == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "there are no lists of work here")
	}
	var p plan
	var err error
	switch req.Name {
	case abi.CapSessionTodo:
		p, err = planTodos(scope, req)
	case abi.CapSessionTask:
		p, err = planWork(scope, req)
	default:
		err = abi.Errorf(abi.CodeUnsupported, "there is no operation %q", req.Name)
	}
	if err != nil {
		return nil, err
	}
	if scope.Rehearse && p.changes {
		return nil, abi.Errorf(abi.CodeUnsupported, "what becomes of a list that is changed is known when it was")
	}
	return p, nil
}

// plan is one request.
type plan struct {
	capability.OfSession
	changes bool
	do      func(context.Context) (abi.Answer, error)
}

// Do does it.
func (p plan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) { return p.do(ctx) }

func planTodos(scope capability.Scope, req abi.Request) (plan, error) {
	var args abi.TodosArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return plan{}, err
	}
	if args.Read {
		if len(req.Parts) > 0 {
			return plan{}, abi.Errorf(abi.CodeInvalidInput, "a list that is only read has no part")
		}
		return plan{"todos", false, func(context.Context) (abi.Answer, error) {
			c, err := scope.Lists.Todos()
			if err != nil {
				return abi.Answer{}, err
			}
			return answer(c.TodosOK, c.TodoLists)
		}}, nil
	}
	if len(req.Parts) != 1 {
		return plan{}, abi.Errorf(abi.CodeInvalidInput, "%s takes one part, the list, and has %d", req.Name, len(req.Parts))
	}
	var list []abi.Todo
	if err := abi.Unmarshal(req.Parts[0].Data, &list); err != nil {
		return plan{}, abi.Errorf(abi.CodeInvalidInput, "the list of todos: %w", err)
	}
	return plan{"todos", true, func(context.Context) (abi.Answer, error) {
		c, err := scope.Lists.SetTodos(list)
		if err != nil {
			return abi.Answer{}, err
		}
		scope.Tell(capability.News{Todos: &capability.TodosNews{Todos: c.Todos}})
		return answer(c.TodosOK, c.TodoLists)
	}}, nil
}

func planWork(scope capability.Scope, req abi.Request) (plan, error) {
	var args abi.WorkArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return plan{}, err
	}
	changes := args.Do == abi.WorkCreate || args.Do == abi.WorkUpdate
	return plan{"work", changes, func(ctx context.Context) (abi.Answer, error) {
		w, err := scope.Lists.Work(ctx, &args)
		if err != nil {
			return abi.Answer{}, err
		}
		if w.News != nil {
			scope.Tell(capability.News{Work: w.News})
		}
		if args.Do == abi.WorkList {
			return answer(w.WorkOK, w.Tasks)
		}
		return abi.Answer{OK: w.WorkOK}, nil
	}}, nil
}

// answer is one with a body in JSON.
func answer(head, body any) (abi.Answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeInternal, "encoding a list of work: %w", err)
	}
	return abi.Answer{OK: head, Body: abi.Bytes(text), BodyType: abi.PartJSON, Size: int64(len(text))}, nil
}
