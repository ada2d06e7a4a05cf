package pipeline

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/permissions"
)

// Question is what a call that runs asks a person, beside permissions.
type Question struct {
	CallID string
	Tell   Teller
	About  *gate.Call
	Mode   permissions.Mode
	capability.Ask
}

// asker asks a person for a call that runs.
type asker struct{ *world }

var _ capability.Person = asker{}

// Ask waits for an answer while others have the call's slot. An interrupt ends the question,
// also where the call is not to be ended by it.
func (a asker) Ask(ctx context.Context, what capability.Ask) (reply capability.Reply, err error) {
	if !a.work.Enter() {
		return reply, errCallOver
	}
	defer a.work.Leave()
	q := &Question{CallID: a.use.ID, Tell: a.tell, About: &a.about, Mode: a.renew().Policy.Mode(), Ask: what}
	open, withdraw := context.WithCancelCause(ctx)
	defer withdraw(nil)
	defer a.turn.OnInterrupt(func() { withdraw(ErrInterrupted) })()
	a.tell.Clocks().Asks(1)
	defer a.tell.Clocks().Asks(-1)
	a.Lend(func() { reply, err = a.turn.Question(open, q) })
	switch {
	case ctx.Err() != nil:
		return capability.Reply{}, gate.Cancelled(ctx)
	case errors.Is(context.Cause(open), ErrInterrupted):
		return capability.Reply{}, abi.Errorf(abi.CodeInterrupted, "the user interrupted while a person was asked; the question is over")
	}
	return reply, err
}
