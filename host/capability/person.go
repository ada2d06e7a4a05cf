package capability

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
)

// Person is whom a session works for, as a call that runs may ask them: not for a permission,
// which is the gate's to ask, but for what the call cannot go on without. It is safe for
// concurrent use.
type Person interface {
	// Ask puts a question, and waits for the answer. Waiting takes none of the call's slot and
	// time. The errors are of abi.CodeUnsupported where nobody can answer such a question, of
	// abi.CodeInvalidInput where the question cannot be asked, of abi.CodeNeedsApproval where it
	// was kept for later, of abi.CodeInterrupted where the user wrote something new meanwhile,
	// and of abi.CodeCancelled where the call has ended or the person dismissed the question.
	Ask(ctx context.Context, a Ask) (Reply, error)
}

// QuestionKind says what a question asks for. More may come.
type QuestionKind string

// The kinds of question that a call asks.
const (
	// QuestionForm asks for the values of fields.
	QuestionForm QuestionKind = "form"
	// QuestionURL asks the person to open a URL.
	QuestionURL QuestionKind = "url"
	// QuestionChoice asks them to choose.
	QuestionChoice QuestionKind = "choice"
	// QuestionPlan asks them to accept a plan.
	QuestionPlan QuestionKind = "plan"
)

// Ask is what a call asks a person. One of its fields is set.
type Ask struct {
	Form   *Form         `json:"form,omitempty"`
	URL    *URLQuestion  `json:"url,omitempty"`
	Choice *Choice       `json:"choice,omitempty"`
	Plan   *PlanQuestion `json:"plan,omitempty"`
}

// Reply is what a person answered to an [Ask].
type Reply struct {
	// Accepted is false where they declined.
	Accepted bool
	// Content is the answer as [Ask.Accept] returns it: nil to a URL.
	Content json.RawMessage
	// Message is what they said to a question that they declined; it may be empty.
	Message string
}

// asked is one kind of question.
type asked interface {
	kind() QuestionKind
	check() error
	accept(content json.RawMessage) (json.RawMessage, error)
}

// one is the field that is set, or nil where that is not one.
func (a *Ask) one() asked {
	var all []asked
	if a.Form != nil {
		all = append(all, a.Form)
	}
	if a.URL != nil {
		all = append(all, a.URL)
	}
	if a.Choice != nil {
		all = append(all, a.Choice)
	}
	if a.Plan != nil {
		all = append(all, a.Plan)
	}
	if len(all) != 1 {
		return nil
	}
	return all[0]
}

var errNotOne = abi.Errorf(abi.CodeInvalidInput, "a question asks exactly one of a form, a URL, a choice and a plan")

// AskedKind is the kind of what is asked; empty where that is not exactly one thing.
func (a *Ask) AskedKind() QuestionKind {
	if q := a.one(); q != nil {
		return q.kind()
	}
	return ""
}

// Check returns why the question cannot be asked, of abi.CodeInvalidInput, or nil.
func (a *Ask) Check() error {
	if q := a.one(); q != nil {
		return q.check()
	}
	return errNotOne
}

// Accept holds the content of an answer to the question, and returns it whole: with the
// defaults of fields that it leaves out, and one answer to each choice. The error says what is
// wrong with it; it is of abi.CodeInvalidInput.
func (a *Ask) Accept(content json.RawMessage) (json.RawMessage, error) {
	if q := a.one(); q != nil {
		return q.accept(content)
	}
	return nil, errNotOne
}

// Clone copies the question, so that whoever changes one does not change the other.
func (a *Ask) Clone() Ask {
	var c Ask
	if a.Form != nil {
		c.Form = &Form{Message: a.Form.Message, Schema: bytes.Clone(a.Form.Schema)}
	}
	if a.URL != nil {
		u := *a.URL
		c.URL = &u
	}
	if a.Choice != nil {
		c.Choice = a.Choice.clone()
	}
	if a.Plan != nil {
		c.Plan = a.Plan.clone()
	}
	return c
}
