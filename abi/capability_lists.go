package abi

import "encoding/json"

// TodosArgs are the arguments of session.todo. Part 0 is a JSON array of [Todo], which
// replaces the whole list of the agent that makes the call. A list has at most 200 items of
// at most 2,000 characters each, and at most one of them is in progress. With Read, no part
// is sent and the list does not change.
//
// The answer's head is [TodosOK]; its body [TodoLists] in JSON.
type TodosArgs struct {
	Read bool `json:"read,omitempty"`
}

// TodosOK is the answer to session.todo.
type TodosOK struct {
	// Count is how many items the list now has.
	Count int `json:"count"`
	// Cleared says that all items were completed: the list is empty now.
	Cleared bool `json:"cleared,omitempty"`
	// Unchecked says that three or more items are completed and none of them is a check
	// of the work.
	Unchecked bool `json:"unchecked,omitempty"`
	// Notes are what else is to be known, such as that a damaged list was put aside.
	Notes []string `json:"notes,omitempty"`
}

// TodoLists are a list of todos as it now is, and as it was before the call.
type TodoLists struct {
	Todos  []Todo `json:"todos"`
	Before []Todo `json:"before"`
}

// The operations of session.task.
const (
	WorkCreate = "create"
	WorkGet    = "get"
	WorkUpdate = "update"
	WorkList   = "list"
)

// WorkChange is what a new task is to be, or what of one is to change. Nil fields stay as
// they are.
type WorkChange struct {
	Subject     *string `json:"subject,omitempty"`
	Description *string `json:"description,omitempty"`
	ActiveForm  *string `json:"activeForm,omitempty"`
	// Status is a state or, to remove the task with its edges, [WorkDeleted]. A task that
	// becomes [WorkInProgress] is owned by the agent that makes the call, unless Owner
	// names another. New tasks are pending.
	Status *string `json:"status,omitempty"`
	// Owner is an agent; empty is none.
	Owner *string `json:"owner,omitempty"`
	// AddBlocks are tasks that are to wait for this one, and AddBlockedBy tasks that this
	// one is to wait for. No task may wait for itself, in however many steps.
	AddBlocks    []string `json:"addBlocks,omitempty"`
	AddBlockedBy []string `json:"addBlockedBy,omitempty"`
	// Metadata is merged into what there is; null removes a key.
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
}

// WorkArgs are the arguments of session.task. The answer's head is [WorkOK]. With
// [WorkList] its body is a JSON array of [WorkItem] without descriptions and metadata, in
// the order of their numbers; tasks whose metadata has _internal are left out, and so is
// from BlockedBy what is completed.
type WorkArgs struct {
	// Do is one of the operations.
	Do string `json:"do"`
	// ID names the task of [WorkGet] and [WorkUpdate].
	ID string `json:"id,omitempty"`
	// Change is what [WorkCreate] and [WorkUpdate] do.
	Change *WorkChange `json:"change,omitempty"`
}

// WorkOK is the answer to session.task.
type WorkOK struct {
	// Task is the task as it now is; nil where [WorkGet] found none, where it was deleted,
	// and with [WorkList].
	Task *WorkItem `json:"task,omitempty"`
	// Updated names the fields that [WorkUpdate] changed, and From and To how the status
	// did, to [WorkDeleted] too; both are empty where it did not.
	Updated []string `json:"updated,omitempty"`
	From    string   `json:"from,omitempty"`
	To      string   `json:"to,omitempty"`
	// Unchecked says that the task was completed, that three or more are, and that none
	// of them is a check of the work.
	Unchecked bool `json:"unchecked,omitempty"`
	// Notes are what else is to be known, such as what the task waits for.
	Notes []string `json:"notes,omitempty"`
	// Count is how many tasks [WorkList] lists, and Hidden how many more there are.
	Count  int `json:"count,omitempty"`
	Hidden int `json:"hidden,omitempty"`
}

// Empty reports whether nothing is to change; a nil change is empty.
func (c *WorkChange) Empty() bool {
	return c == nil || c.Subject == nil && c.Description == nil && c.ActiveForm == nil && c.Status == nil && c.Owner == nil &&
		len(c.AddBlocks)+len(c.AddBlockedBy)+len(c.Metadata) == 0
}
