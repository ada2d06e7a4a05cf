package gate

import (
	"context"
	"encoding/json"

	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/grants"
)

// View is the rules at one moment.
type View struct {
	Policy *permissions.Policy
	// Grants are those that the policy was compiled with.
	Grants grants.View
}

// Policies are the rules of a session.
type Policies interface {
	// Now returns the rules that count, as they were when Renew was called last.
	Now() *View
	// Renew takes up the rules as they are by now.
	Renew() *View
	// Changed returns a channel that is closed when the rules change, or when it is
	// time to look at open questions again.
	Changed() <-chan struct{}
}

// Files answers what a decision needs to know about the file system beyond the accesses
// of its subject.
type Files interface {
	// Protected returns the paths, beyond those known by name, whose change makes
	// programs run: see [permissions.Request].Protected.
	Protected(policy *permissions.Policy, accesses []permissions.Access) []string
	// Clear returns the trees that commands search without meeting anything that rules
	// withhold: see [permissions.Request].Clear.
	Clear(policy *permissions.Policy, s *Subject) []permissions.Access
	// Confined reports whether the commands of a subject run wholly confined: see
	// [permissions.Request].Confined.
	Confined(policy *permissions.Policy, s *Subject) bool
}

// Log takes decisions. It is safe for concurrent use.
type Log interface {
	// Unheard reports whether nobody wants to know of decisions, so that those that
	// allow a capability call need not be recorded.
	Unheard() bool
	// Record takes a decision, and who made it, before it takes effect. An error means
	// that it must not take effect.
	Record(s *Subject, d *permissions.Decision, by string) error
	// Warn tells the operator about something that went wrong on the way to a decision.
	Warn(text string)
}

// Judge is a model that is asked about what rules leave open, such as a [judge.Judge].
type Judge interface {
	// Speculate starts to find an answer, which may turn out not to be needed.
	Speculate(ctx context.Context, q judge.Question) *judge.Pending
}

// Asker asks a person.
type Asker interface {
	// Ask puts a question. The channel brings one answer, unless ctx ends first.
	Ask(ctx context.Context, q *Question) <-chan Answer
	// Waiting runs do, during which a person may be waited for.
	Waiting(s *Subject, do func())
	// Closed returns why no more questions are put, or nil.
	Closed() error
}

// Question asks a person about a subject. Nothing in it may be changed.
type Question struct {
	// ID names the question, so that it can be answered later.
	ID       string
	Subject  *Subject
	Policy   *permissions.Policy
	Decision permissions.Decision
	// Explanation is everything that asks, and EveryEdit the rules that would allow all
	// edits like it; none where it is not about edits.
	Explanation permissions.Explanation
	EveryEdit   []string
}

// Answer is what a person said.
type Answer struct {
	// Err says why the person could not be asked, and Nobody that there is none who could be.
	Err    error
	Nobody bool
	// Allow allows the subject; Later leaves it open. Else it is denied.
	Allow, Later bool
	// Message, with a denial, is for the model.
	Message string
	// Input, with Allow, takes the place of the call's.
	Input json.RawMessage
	// Effect, if not nil, does what the person wants besides, such as to remember the
	// answer as a rule. It is called once the answer counts, before the rules are
	// looked at again.
	Effect func()
}
