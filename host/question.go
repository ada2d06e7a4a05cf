package host

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"
	"unicode"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/forms"
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
type QuestionKind string

// The kinds of question.
const (
	// QuestionApproval asks whether a call may do something.
	QuestionApproval QuestionKind = "approval"
	// QuestionForm asks for the values of fields.
	QuestionForm QuestionKind = "form"
	// QuestionURL asks the person to open a URL.
	QuestionURL QuestionKind = "url"
)

// Question is what a person is asked. One of Approval, Form and URL is set, as Kind says.
//
// What it asks in a form or a URL comes from a tool. Whoever shows it says which one asks,
// and opens a URL only if the person does.
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
	// Tool, Plugin, Worker, Title, Input, Binding, Cwd and Mode are as in [Approval].
	Tool   string `json:"tool"`
	Plugin string `json:"plugin,omitempty"`
	// Server is the MCP server that the tool is of: the question is its, and no one else's.
	Server  string           `json:"server,omitempty"`
	Worker  string           `json:"worker,omitempty"`
	Title   string           `json:"title,omitempty"`
	Input   json.RawMessage  `json:"input"`
	Binding string           `json:"binding"`
	Cwd     string           `json:"cwd"`
	Mode    permissions.Mode `json:"mode"`
	Asked   time.Time        `json:"asked"`

	Approval *Approval    `json:"approval,omitempty"`
	Form     *Form        `json:"form,omitempty"`
	URL      *URLQuestion `json:"url,omitempty"`
}

type (
	// Form asks a person for the values of a few fields: Message says what for, and Schema
	// describes them, as the elicitation of MCP has it.
	Form = capability.Form
	// URLQuestion asks a person to open a URL: Message says what for, URL which.
	URLQuestion = capability.URLQuestion
)

var (
	// ErrNobody is what an [Asker] returns, perhaps wrapped, where nobody can answer such a
	// question after all. What needed an approval is denied as in a session without an asker.
	ErrNobody = errors.New("there is nobody to ask")
	// ErrDismissed is what an [Asker] returns, perhaps wrapped, for a question that the
	// person put away without an answer.
	ErrDismissed = errors.New("the person dismissed the question")
)

// Accept holds an answer to the form of a question, and returns it with the defaults of the
// fields that it leaves out. The error says which field is wrong; it is of
// abi.CodeInvalidInput.
func (q *Question) Accept(content json.RawMessage) (json.RawMessage, error) {
	if q.Form == nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the question is no form, so its answer has no content")
	}
	form, err := forms.Parse(q.Form.Schema)
	if err != nil {
		return nil, err
	}
	return form.Accept(content)
}

// maxQuestion bounds what a tool can have a person read, in bytes, and maxURL its URL.
const (
	maxQuestion = 16 << 10
	maxURL      = 8 << 10
)

// checkForm reads a tool's form, if it can be asked.
func checkForm(f *Form) (*forms.Form, error) {
	if err := checkMessage(f.Message); err != nil {
		return nil, err
	}
	return forms.Parse(f.Schema)
}

// checkURL returns why a tool's URL cannot be asked to be opened, or nil.
func checkURL(u *URLQuestion) error {
	if err := checkMessage(u.Message); err != nil {
		return err
	}
	if len(u.URL) > maxURL {
		return abi.Errorf(abi.CodeInvalidInput, "the URL of a question has %d bytes; at most %d", len(u.URL), maxURL)
	}
	parsed, err := url.Parse(u.URL)
	switch {
	case err != nil:
		return abi.Errorf(abi.CodeInvalidInput, "the URL of a question: %w", err)
	case parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Hostname() == "":
		return abi.Errorf(abi.CodeInvalidInput, "the URL of a question must be a whole one that begins with https:// or http://")
	case parsed.User != nil:
		return abi.Errorf(abi.CodeInvalidInput, "the URL of a question must name no user: what stands before @ looks like a host")
	}
	for _, r := range u.URL {
		if r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' {
			return abi.Errorf(abi.CodeInvalidInput, "the URL of a question has the character %+q; write it with %%-escapes, and a host as xn--", r)
		}
	}
	return nil
}

func checkMessage(message string) error {
	switch {
	case message == "":
		return abi.Errorf(abi.CodeInvalidInput, "a question must have a message that says what it is for")
	case len(message) > maxQuestion:
		return abi.Errorf(abi.CodeInvalidInput, "the message of a question has %d bytes; at most %d", len(message), maxQuestion)
	}
	return nil
}
