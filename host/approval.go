package host

import (
	"encoding/json"
	"time"

	"github.com/toolquay/toolquay/permissions"
)

// Approval is the question whether something may happen. An answer covers exactly what is
// listed here and nothing else. It can be shown by itself: who asks is told here as in the
// [Question] around it.
type Approval struct {
	// ID names the question, so that it can be answered later.
	ID string `json:"id"`
	// Session is the session's ID, Cwd its working directory and Mode its mode
	// when the question was asked.
	Session string           `json:"session"`
	Cwd     string           `json:"cwd"`
	Mode    permissions.Mode `json:"mode"`
	CallID  string           `json:"call_id"`
	Tool    string           `json:"tool"`
	// Plugin offers the tool; empty for a tool of the embedder's.
	Plugin string `json:"plugin,omitempty"`
	// Server is the MCP server that the tool is of; empty for others.
	Server string `json:"server,omitempty"`
	// Worker names the one that asks, where several ask one person; empty is the main
	// agent.
	Worker string `json:"worker,omitempty"`
	// Title is one line: what the call is about.
	Title string `json:"title,omitempty"`
	// Line is what the tool says that the call does, in one line that is safe to show, as in
	// [Event]. It is the word of the tool's plugin: whoever shows it says whose tool it is.
	Line  string          `json:"display,omitempty"`
	Input json.RawMessage `json:"input"`
	// Binding is the SHA-256, in hexadecimal, of the input and the tool's
	// definition: the answer holds for nothing else.
	Binding string `json:"binding"`
	// Capability is set where the question comes from a running call: the
	// operation it wants done.
	Capability string                `json:"capability,omitempty"`
	Accesses   []permissions.Access  `json:"accesses"`
	Decision   *permissions.Decision `json:"decision"`
	// Reasons are all that asks, each a sentence for people: the rules, the places, and
	// each part of a command that the mode asks about.
	Reasons []string  `json:"reasons,omitempty"`
	Asked   time.Time `json:"asked"`
	// Preview is what the call would change, as a unified diff, or in words where it changes
	// no files; empty where nobody can tell.
	Preview string `json:"preview,omitempty"`
	// Tried says that the command was already run in a throwaway sandbox. The first of Reasons
	// gives the outcome. Unless it says that the trial is inconclusive, a yes applies the changes
	// that the trial made, which Preview shows, and the command is not run again. A question that
	// is kept for later drops its trial.
	Tried bool `json:"tried,omitempty"`
	// Remember are the ways to allow it for longer than this once, the narrowest
	// first, and [TargetEdits] last. There are none where a rule could not do that.
	Remember []RememberOption `json:"offers,omitempty"`
	// DenyEndsTurn says that a person's plain no, without words for the model, is to
	// end the turn: an asker that asks a person replies to that with EndTurn set.
	DenyEndsTurn bool `json:"deny_ends_turn,omitempty"`
}

// RuleTarget says for how long and where something is allowed.
type RuleTarget string

// The targets, the narrowest first.
const (
	TargetSession      RuleTarget = "session"
	TargetProjectLocal RuleTarget = "project-local"
	TargetProject      RuleTarget = "project"
	TargetUser         RuleTarget = "user"
	// TargetEdits is every edit inside the working directories, in this session. It is
	// offered where the question is about such edits alone; protected paths still ask.
	TargetEdits RuleTarget = "edits"
)

// RememberOption is one way to allow what is asked about from now on.
type RememberOption struct {
	Target RuleTarget `json:"scope"`
	// Rules are the allow rules that would be added, all of them needed.
	Rules []string `json:"rules"`
	// Outside are commands that may leave the sandbox from then on, as entries of outside in
	// [sandbox].
	Outside []string `json:"outside,omitempty"`
	// File is the settings file they would be written to; empty for the
	// session, whose rules end with it.
	File string `json:"file,omitempty"`
}

// Answer is what a person said.
type Answer string

// The answers.
const (
	// AnswerAllow allows this, once. It accepts a form, or to open a URL.
	AnswerAllow Answer = "allow"
	// AnswerDeny denies it, or declines a form or a URL.
	AnswerDeny Answer = "deny"
	// AnswerLater leaves it open: the call ends with the code needs_approval
	// and the question's id, and nothing is done.
	AnswerLater Answer = "later"
)

// Reply is a person's answer to a [Question]. EndTurn, Remember and Input are of approvals
// alone, and Content is of forms.
type Reply struct {
	Answer Answer
	// Message, with a denial, is for the model.
	Message string
	// EndTurn, with a denial, ends the turn as well: what has not begun is cancelled.
	// Without it only this call is denied, as a program that judges by a policy wants.
	EndTurn bool
	// Remember, with AnswerAllow, is the option that the person took: besides
	// this call, the rules allow others from now on.
	Remember *RememberOption
	// Input, with AnswerAllow, is what the call is to get in place of its
	// input. It is validated and judged as if the model had written it, and what
	// the person allowed counts for it.
	Input json.RawMessage
	// Content, with AnswerAllow, are the fields of a form by their names. What does not fit
	// the form's schema is no answer: the call that asked fails.
	Content json.RawMessage
}
