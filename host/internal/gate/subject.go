package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Call says which call a [Subject] belongs to. It is immutable: a call whose input is
// rewritten gets another one.
type Call struct {
	// Tool and Aliases are the names that rules may use for the tool.
	Tool    string
	Aliases []string
	Origin  permissions.Origin
	// Cwd is the working directory by which the accesses were resolved.
	Cwd string
	// Title is one line for people: what the call is about.
	Title string
	// Shown tells how the call is shown; nil is by its title, and to a judge by its input.
	Shown Shown
	// Input is canonical JSON.
	Input json.RawMessage
	// Definition hashes the tool's contract.
	Definition Definition
	Effects    permissions.Effects
}

// Shown tells how a call is shown. What it says is the word of the tool's plugin.
type Shown interface {
	// Use is one line for people, safe to show.
	Use() string
	// Classifier is for a judge; empty is the whole input.
	Classifier() string
}

// classifier is what the call's tool shows a judge of the input, if anything.
func (c *Call) classifier() string {
	if c.Shown == nil {
		return ""
	}
	return c.Shown.Classifier()
}

// Definition tells the hash of a tool's contract.
type Definition interface{ Definition() [sha256.Size]byte }

// Binding identifies what is judged and approved: this input to this very tool. It is
// the SHA-256 of both, in hexadecimal.
func (c *Call) Binding() string {
	definition := c.Definition.Definition()
	sum := sha256.Sum256(append(definition[:], c.Input...))
	return hex.EncodeToString(sum[:])
}

// Subject is what one decision is about: a call before it starts, or one of its
// capability calls.
type Subject struct {
	Call *Call
	// Operation is the capability that a running call asks for; empty for the call
	// itself.
	Operation string
	Accesses  []permissions.Access
	Commands  []permissions.Command
	// Check is the tool's own verdict, and Hook what hooks said; nil is none.
	Check *abi.Check
	Hook  *permissions.HookAnswer
	// Offer is set where the subject is for [Gate.Offer].
	Offer *Offer
	// Preview is what the call would change, as a unified diff or in words; empty where unknown.
	Preview string
	// Tried says, for people, how a trial of the call ended; empty if there was none.
	Tried string
	// Rehearse, if not nil, is called before a person is asked, and may set Preview and Tried. An
	// error ends the question unasked; a [Stood] allows the subject, if the rules permit that. done,
	// if not nil, is called when the question has ended, also after an error.
	Rehearse func(ctx context.Context, s *Subject) (done func(), err error)

	// judged is what a judge said about exactly this subject.
	judged *permissions.JudgeAnswer
	// closed says that a decision was logged that leaves nothing to ask.
	closed bool
	// stood says that the call was allowed by the result of a trial, and that this was logged.
	stood bool
	// last is the latest decision about a call itself, which is asked for more than once;
	// see [Gate.Decide].
	last *decided
}

// decided is a decision and what it was made by.
type decided struct {
	permissions.Decision
	policy    *permissions.Policy
	judged    *permissions.JudgeAnswer
	check     *abi.Check
	hook      *permissions.HookAnswer
	approvals int
}

// stands reports whether a decision about a subject, if there is one, would be the same now.
func (d *decided) stands(s *Subject, policy *permissions.Policy, approvals int) bool {
	return d != nil && d.policy == policy && d.judged == s.judged && d.check == s.Check && d.hook == s.Hook && d.approvals == approvals
}

// Stage says whether the subject is the call itself or one of its capability calls.
func (s *Subject) Stage() permissions.Stage {
	if s.Operation == "" {
		return permissions.StageCall
	}
	return permissions.StageCapability
}

// Recheck has the next decision made anew, because the file system may have changed.
func (s *Subject) Recheck() { s.last = nil }

// ReadOnly reports whether everything that the subject touches is only read; reads tells so of a
// command.
func (s *Subject) ReadOnly(reads func(*permissions.Command) bool) bool {
	if len(s.Accesses) == 0 {
		return false
	}
	for i := range s.Commands {
		if !reads(&s.Commands[i]) {
			return false
		}
	}
	for _, a := range s.Accesses {
		switch {
		case a.Kind == permissions.AccessRead, a.Kind == permissions.AccessExec:
		case a.Kind == permissions.AccessSession && !a.ChangesBeyond():
		default:
			return false
		}
	}
	return true
}

// StaysIn reports whether every command leaves the session in the directory cwd.
func (s *Subject) StaysIn(cwd string) bool {
	for i := range s.Commands {
		if s.Commands[i].Cwd != cwd {
			return false
		}
	}
	return true
}

// differs reports whether an input is given that is another than the call's.
func (c *Call) differs(input []byte) bool {
	if len(input) == 0 {
		return false
	}
	canonical, err := abi.Canonical(input)
	return err != nil || !bytes.Equal(canonical, c.Input)
}
