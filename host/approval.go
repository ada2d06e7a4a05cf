package host

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolquay/toolquay/permissions"
)

// Asker asks the person a session works for. Without one a session is headless,
// and what would be asked is denied.
type Asker interface {
	// Ask puts one question and returns the person's answer. It may be called
	// from several goroutines at once and must return soon after ctx is done.
	// An error counts as a denial.
	Ask(ctx context.Context, a Approval) (Reply, error)
}

// Approval is one question to a person: may this happen? An answer covers
// exactly what is listed here and nothing else.
type Approval struct {
	// ID names the question, so that it can be answered later.
	ID     string `json:"id"`
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// Plugin offers the tool; empty for a tool of the embedder's.
	Plugin string `json:"plugin,omitempty"`
	// Title is one line: what the call is about.
	Title string          `json:"title,omitempty"`
	Input json.RawMessage `json:"input"`
	// Binding is the SHA-256, in hexadecimal, of the input and the tool's
	// definition: the answer holds for nothing else.
	Binding string `json:"binding"`
	// Capability is set where the question comes from a running call: the
	// operation it wants done.
	Capability string                `json:"capability,omitempty"`
	Accesses   []permissions.Access  `json:"accesses"`
	Decision   *permissions.Decision `json:"decision"`
	Asked      time.Time             `json:"asked"`
}

// Answer is what a person said.
type Answer string

// The answers.
const (
	// AnswerAllow allows this, once.
	AnswerAllow Answer = "allow"
	// AnswerDeny denies it.
	AnswerDeny Answer = "deny"
	// AnswerLater leaves it open: the call ends with the code needs_approval
	// and the approval's id, and nothing is done.
	AnswerLater Answer = "later"
)

// Reply is a person's answer to an [Approval].
type Reply struct {
	Answer Answer
	// Message, with a denial, is for the model.
	Message string
}
