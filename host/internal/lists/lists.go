package lists

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// Lists are those of a session.
type Lists struct {
	Todos *Todos
	Tasks *Tasks
}

// Caller is who uses lists.
type Caller struct {
	// Agent makes the calls.
	Agent string
	// Created and Completed are asked before a task comes to be, and before one is
	// completed; nil agrees.
	Created, Completed Approve
}

// For returns the lists as a call has them.
func (l *Lists) For(by Caller) capability.Lists { return &view{l, by} }

// view are lists as a call has them.
type view struct {
	*Lists
	by Caller
}

// Todos are the agent's.
func (v *view) Todos() (capability.TodosChange, error) { return v.Lists.Todos.Get(v.by.Agent) }

// SetTodos replaces them.
func (v *view) SetTodos(list []abi.Todo) (capability.TodosChange, error) {
	return v.Lists.Todos.Set(v.by.Agent, list)
}

// Work does one operation on tasks.
func (v *view) Work(ctx context.Context, args *abi.WorkArgs) (capability.Worked, error) {
	switch args.Do {
	case abi.WorkCreate:
		return v.create(ctx, args)
	case abi.WorkGet:
		task, notes, err := v.Tasks.Get(ctx, args.ID)
		return capability.Worked{WorkOK: abi.WorkOK{Task: task, Notes: notes}}, err
	case abi.WorkUpdate:
		return v.update(ctx, args)
	case abi.WorkList:
		l, hidden, err := v.Tasks.Open(ctx)
		return capability.Worked{WorkOK: abi.WorkOK{Count: len(l.Tasks), Hidden: hidden, Notes: l.Notes}, Tasks: l.Tasks}, err
	}
	return capability.Worked{}, abi.Errorf(abi.CodeInvalidInput, "there is no operation %.40q on tasks; there are create, get, update and list", args.Do)
}

func (v *view) create(ctx context.Context, args *abi.WorkArgs) (capability.Worked, error) {
	if args.Change == nil {
		return capability.Worked{}, abi.Errorf(abi.CodeInvalidInput, "a new task needs a subject")
	}
	task, err := v.Tasks.Create(ctx, args.Change, v.by.Created)
	if err != nil {
		return capability.Worked{}, err
	}
	return capability.Worked{WorkOK: abi.WorkOK{Task: &task}, News: &capability.WorkNews{Change: capability.WorkCreated, Item: task}}, nil
}

func (v *view) update(ctx context.Context, args *abi.WorkArgs) (capability.Worked, error) {
	if args.Change.Empty() {
		return capability.Worked{}, abi.Errorf(abi.CodeInvalidInput, "there is nothing to change: give at least one field beside the id")
	}
	u, err := v.Tasks.Update(ctx, args.ID, args.Change, v.by.Agent, v.by.Completed)
	if err != nil {
		return capability.Worked{}, err
	}
	w := capability.Worked{WorkOK: abi.WorkOK{Task: &u.Task, Updated: u.Fields, From: u.From, To: u.To, Unchecked: u.Unchecked, Notes: u.Notes}}
	if len(u.Fields) > 0 {
		w.News = &capability.WorkNews{Change: capability.WorkUpdated, Item: u.Task}
	}
	if u.To == abi.WorkDeleted {
		w.Task, w.News.Change = nil, capability.WorkDeleted
	}
	return w, nil
}
