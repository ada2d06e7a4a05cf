package capability

import (
	"context"

	"github.com/toolquay/toolquay/abi"
)

// Lists are the lists of work of a session as one call has them: the todos of the agent that
// makes it, and the tasks that the agents of the session, or of its team, share. It is safe for
// concurrent use. Faults of what a model wrote are errors of [abi.CodeInvalidInput].
type Lists interface {
	// Todos returns the agent's todos.
	Todos() (TodosChange, error)
	// SetTodos replaces them. A list of which all items are completed is cleared.
	SetTodos(list []abi.Todo) (TodosChange, error)
	// Work does what a call of session.task asks for. An unknown task is an error of
	// [abi.CodeNotFound], except to [abi.WorkGet]; what a hook refused is one of
	// [abi.CodeDenied], and then nothing was changed.
	Work(ctx context.Context, args *abi.WorkArgs) (Worked, error)
}

// TodosChange is what became of a list of todos: what session.todo answers.
type TodosChange struct {
	abi.TodosOK
	abi.TodoLists
}

// Worked is what became of a call of session.task, and what it answers.
type Worked struct {
	abi.WorkOK
	// Tasks are those of [abi.WorkList].
	Tasks []abi.WorkItem
	// News is the change, for those who follow the session; nil where there is none.
	News *WorkNews
}
