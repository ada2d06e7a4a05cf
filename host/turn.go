package host

import (
	"context"
	"crypto/rand"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/session"
)

var _ session.Listeners = (*listeners)(nil)

// Under says which call makes the turn, nil for the model, and how many are above it.
func (l *listeners) Under(above *pipeline.Call, depth int) {
	if !l.Any() {
		return
	}
	l.turn, l.depth = rand.Text(), depth
	if above != nil {
		l.parent = above.ID()
	}
}

// Began tells [EventTurn].
func (l *listeners) Began() { l.tell(Event{Kind: EventTurn}) }

// Ended tells [EventTurnEnded].
func (l *listeners) Ended() { l.tell(Event{Kind: EventTurnEnded}) }

// Telling begins what a call tells.
func (l *listeners) Telling(index int, use *abi.ToolUse) pipeline.Teller {
	if !l.Any() {
		return telling{}
	}
	return telling{newSender(l, index, use)}
}

// Ask asks the session's person.
func (l *listeners) Ask(ctx context.Context, t *session.Turn, callID string, tell pipeline.Teller, q *gate.Question) <-chan gate.Answer {
	return person{l.of, t, callID, tell}.ask(ctx, q)
}
