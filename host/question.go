package host

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// Asker asks the person a session works for. Without one a session is headless,
// and what would be asked is denied. Package host/approvals has some; approvals.Func
// makes one of a function that answers approvals.
type Asker interface {
	// Carries reports whether questions of a kind can be put this way. It is asked whenever
	// that matters, so it must be quick, and the answer may change.
	Carries(kind QuestionKind) bool
	// Ask puts one question, of a kind that is carried, and returns the person's answer. It
	// may be called from several goroutines at once and must return soon after ctx is done.
	// An error counts as a denial; [ErrNobody] and [ErrDismissed] say more.
	Ask(ctx context.Context, q Question) (Reply, error)
}

// QuestionKind says what a [Question] asks for. More may come.
type QuestionKind = capability.QuestionKind

// The kinds of question.
const (
	// QuestionApproval asks whether a call may do something.
	QuestionApproval QuestionKind = "approval"
	// QuestionForm asks for the values of fields.
	QuestionForm = capability.QuestionForm
	// QuestionURL asks the person to open a URL.
	QuestionURL = capability.QuestionURL
	// QuestionChoice asks them to choose, or to answer in their own words.
	QuestionChoice = capability.QuestionChoice
	// QuestionPlan asks them to accept a plan.
	QuestionPlan = capability.QuestionPlan
)

// Kinds are all kinds of question.
func Kinds() []QuestionKind {
	return []QuestionKind{QuestionApproval, QuestionForm, QuestionURL, QuestionChoice, QuestionPlan}
}

// Question is what a person is asked. Either Approval is set or one field of Ask, as Kind says.
//
// What Ask asks comes from a tool. Show which tool asks, and open a URL only if the person
// says so.
type Question struct {
	// ID names the question, so that it can be answered later.
	ID   string       `json:"id"`
	Kind QuestionKind `json:"kind"`
	// Session, Turn and Caller are where it is asked and who made the call that asks, as in
	// [Event]; Call is that one's id.
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Caller
	Call string `json:"call"`
	// Tool, Plugin, Worker, Title, Line, Input, Binding, Cwd and Mode are as in [Approval].
	Tool   string `json:"tool"`
	Plugin string `json:"plugin,omitempty"`
	// Server is the MCP server that the tool is of: the question is its, and no one else's.
	Server  string           `json:"server,omitempty"`
	Worker  string           `json:"worker,omitempty"`
	Title   string           `json:"title,omitempty"`
	Line    string           `json:"display,omitempty"`
	Input   json.RawMessage  `json:"input"`
	Binding string           `json:"binding"`
	Cwd     string           `json:"cwd"`
	Mode    permissions.Mode `json:"mode"`
	Asked   time.Time        `json:"asked"`

	Approval *Approval `json:"approval,omitempty"`
	Ask
}

type (
	// Ask is what a call asks a person beside permissions: a form, a URL, a choice or a plan.
	Ask = capability.Ask
	// Form asks a person for the values of a few fields: Message says what for, and Schema
	// describes them, as the elicitation of MCP has it.
	Form = capability.Form
	// URLQuestion asks a person to open a URL: Message says what for, URL which.
	URLQuestion = capability.URLQuestion
	// Choice asks a person to choose, in up to four questions.
	Choice = capability.Choice
	// Chosen is the content of an answer to a choice.
	Chosen = capability.Chosen
	// Picked is what was chosen of one question.
	Picked = capability.Picked
	// PlanQuestion asks a person to accept a plan.
	PlanQuestion = capability.PlanQuestion
	// Accepted is the content of an answer that accepts a plan.
	Accepted = capability.Accepted
)

var (
	// ErrNobody is what an [Asker] returns, perhaps wrapped, where nobody can answer such a
	// question after all. What needed an approval is denied as in a session without an asker.
	ErrNobody = errors.New("there is nobody to ask")
	// ErrDismissed is what an [Asker] returns, perhaps wrapped, for a question that the
	// person put away without an answer.
	ErrDismissed = errors.New("the person dismissed the question")
)
