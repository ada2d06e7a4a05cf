package abi

import (
	"encoding/json"
	"strings"
)

// The operations on a session itself that a plugin's tools may be granted. Tools in the box,
// and an embedder's own, may use all operations on sessions.
const (
	// CapSessionTodo reads or replaces the list of todos of the agent that calls.
	CapSessionTodo = "session.todo"
	// CapSessionTask reads and changes the work items that the agents of a session, or of its
	// team, share.
	CapSessionTask = "session.task"
	// CapSessionMessage tells the person something, with files where there are some. It takes
	// [MessageArgs]; the answer's head is [MessageOK]; it has no body.
	CapSessionMessage = "session.message"
)

// The operations on a session that a plugin's tools cannot be granted.
const (
	// CapSessionQuestion asks the person to choose. It takes [QuestionArgs]; the answer's head
	// is [QuestionOK]; it has no body.
	CapSessionQuestion = "session.question"
	// CapSessionPlan enters the mode plan, or asks the person to accept the plan and leaves it.
	// It takes [PlanArgs]; the answer's head is [PlanOK], and its body the plan that the person
	// accepted.
	CapSessionPlan = "session.plan"
	// CapSessionConfig reads and sets the settings that a model may. It takes [ConfigArgs]; the
	// answer's head is [ConfigOK]; it has no body.
	CapSessionConfig = "session.config"
	// CapSessionCron makes, deletes and lists prompts that come by the clock. It takes
	// [CronArgs].
	CapSessionCron = "session.cron"
	// CapSessionOutput hands over the structured output that the session was begun for. It takes
	// no arguments and one part, the output as JSON; the answer's head is [SessionOutputOK]; it
	// has no body.
	CapSessionOutput = "session.output"
)

// open are the operations on a session that a plugin's tools may be granted.
var open = map[string]bool{
	CapSessionCwd: true, CapSessionTodo: true, CapSessionTask: true, CapSessionMessage: true,
}

// Closed reports whether an operation is for tools in the box and an embedder's own alone: a
// plugin of anybody else's whose manifest declares it is refused when it is loaded. All
// operations on sessions, agents and teams are closed that are not named as open.
func Closed(name string) bool {
	family, _, _ := strings.Cut(name, ".")
	switch family {
	case "session", "agent", "team":
		return !open[name]
	}
	return false
}

// The states of a [Todo] and a [WorkItem].
const (
	WorkPending    = "pending"
	WorkInProgress = "in_progress"
	WorkCompleted  = "completed"
	// WorkDeleted is the state that removes a work item.
	WorkDeleted = "deleted"
)

// A Todo is one item of an agent's list of todos.
type Todo struct {
	ID      string `json:"id,omitempty"`
	Content string `json:"content"`
	// Status is WorkPending, WorkInProgress or WorkCompleted.
	Status string `json:"status"`
	// ActiveForm says what is going on while it is in progress.
	ActiveForm string `json:"activeForm,omitempty"`
	// Priority is high, medium, low or empty.
	Priority string `json:"priority,omitempty"`
}

// WorkItem is a piece of work that agents share.
type WorkItem struct {
	// ID is "1", "2" and so on; none is used twice.
	ID          string `json:"id"`
	Subject     string `json:"subject"`
	Description string `json:"description,omitempty"`
	ActiveForm  string `json:"activeForm,omitempty"`
	// Status is one of the states above, and Owner the agent that works on it.
	Status string `json:"status"`
	Owner  string `json:"owner,omitempty"`
	// Blocks are the items that wait for this one, and BlockedBy those that it waits for.
	Blocks    []string `json:"blocks"`
	BlockedBy []string `json:"blockedBy"`
	// Metadata is an object of the model's own.
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
}

// QuestionArgs are the arguments of session.question.
type QuestionArgs struct {
	// Questions are 1 to 4.
	Questions []ChoiceQuestion `json:"questions"`
}

// ChoiceQuestion asks a person to choose.
type ChoiceQuestion struct {
	// Question ends with what is to be decided; no two of one asking are alike.
	Question string `json:"question"`
	// Header names it in at most 12 characters.
	Header string `json:"header,omitempty"`
	// Options are 2 to 4, and no two have one label.
	Options []ChoiceOption `json:"options"`
	// MultiSelect lets the person choose more than one.
	MultiSelect bool `json:"multiSelect,omitempty"`
}

// ChoiceOption is one answer that a person may choose.
type ChoiceOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// QuestionOK is the answer to session.question.
type QuestionOK struct {
	// Answers are one for each question, in their order.
	Answers []ChoiceAnswer `json:"answers,omitempty"`
	// Declined says that the person answered none, and Message what they said instead.
	Declined bool   `json:"declined,omitempty"`
	Message  string `json:"message,omitempty"`
}

// ChoiceAnswer is what a person chose.
type ChoiceAnswer struct {
	Question string `json:"question"`
	// Chosen are labels of options, or the person's own words; more than one only where the
	// question has MultiSelect.
	Chosen []string `json:"chosen"`
	// Note is what they noted beside it.
	Note string `json:"note,omitempty"`
}

// What [PlanArgs] can say to do.
const (
	PlanEnter = "enter"
	PlanExit  = "exit"
)

// PlanArgs are the arguments of session.plan.
type PlanArgs struct {
	// Do is PlanEnter or PlanExit.
	Do string `json:"do"`
	// Proposals are what the model would like to be allowed after PlanExit. The person is shown
	// them, and nothing follows from them.
	Proposals []PlanProposal `json:"proposals,omitempty"`
}

// PlanProposal is a kind of call that a model would like to be allowed while it follows a plan.
type PlanProposal struct {
	Tool   string `json:"tool"`
	Prompt string `json:"prompt"`
}

// PlanOK is the answer to session.plan.
type PlanOK struct {
	// Path is the plan file, absolute, and Mode the session's mode from now on.
	Path string `json:"path"`
	Mode string `json:"mode"`
	// Agent says that the session is not the main agent's.
	Agent bool `json:"agent,omitempty"`
	// Already says of PlanEnter that the mode was plan before.
	Already bool `json:"already,omitempty"`
	// Edited says that the person changed the plan, and Rules are what they allowed for the
	// session.
	Edited bool     `json:"edited,omitempty"`
	Rules  []string `json:"rules,omitempty"`
	// Declined says that they did not accept it, so that the mode is still plan, and Message
	// what they said.
	Declined bool   `json:"declined,omitempty"`
	Message  string `json:"message,omitempty"`
}
