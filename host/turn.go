package host

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/session"
	"github.com/toolquay/toolquay/permissions"
)

var _ session.Listeners = (*listeners)(nil)

// Under gives the turn its id, and says who makes its calls.
func (l *listeners) Under(turn string, caller permissions.Caller) {
	if l.Any() { // others are shared
		l.turn, l.caller = turn, caller
	}
}

// Began tells [EventTurn].
func (l *listeners) Began(ctx context.Context) { l.tell(Event{Kind: EventTurn, Context: ctx}) }

// Ended tells [EventTurnEnded].
func (l *listeners) Ended() {
	l.tell(Event{Kind: EventTurnEnded})
	l.of.host.forgetting.start()
}

// Telling begins what a call tells.
func (l *listeners) Telling(index int, use *abi.ToolUse) pipeline.Teller {
	if !l.Any() {
		return telling{}
	}
	return telling{newSender(l, index, use)}
}

// Question asks the session's person on behalf of a running call.
func (l *listeners) Question(ctx context.Context, t *session.Turn, q *pipeline.Question) (capability.Reply, error) {
	return person{l.of, t, q.CallID, q.Tell}.askMore(ctx, q)
}

// Ask asks the session's person for an approval.
func (l *listeners) Ask(ctx context.Context, t *session.Turn, callID string, tell pipeline.Teller, q *gate.Question) <-chan gate.Answer {
	return person{l.of, t, callID, tell}.ask(ctx, q)
}
