package session

import (
	"context"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// intake takes the calls of a stream, in the order in which they come, and submits them to
// its turn. It keeps those that come before the turn begins.
type intake struct {
	turn *Turn
	// submitting is the turn's context until an interrupt: what comes before a
	// call's turn, such as asking a guest for traits, ends with that too.
	submitting context.Context //nolint:containedctx // as the turn's
	cancel     context.CancelCauseFunc

	// mu is held while a call is submitted, one at a time, and guards the rest.
	mu     sync.Mutex
	begun  bool
	early  []abi.ToolUse // came before the turn began
	added  int
	closed bool

	closing chan struct{} // closed with the intake
}

// newIntake makes the intake of a turn.
func newIntake(t *Turn) *intake {
	in := &intake{turn: t, closing: make(chan struct{})}
	in.submitting, in.cancel = context.WithCancelCause(t.span.Ctx)
	return in
}

// begin submits the calls that came before the turn did.
func (in *intake) begin() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.begun = true
	in.turn.listeners.Began(in.turn.span.Ctx)
	for _, use := range in.early {
		in.submit(use)
	}
	in.early = nil
}

// add takes a call, and reports false when the intake is closed.
func (in *intake) add(use abi.ToolUse) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.closed:
		return false
	case !in.begun:
		in.early = append(in.early, use)
	default:
		in.submit(use)
	}
	return true
}

func (in *intake) submit(use abi.ToolUse) {
	in.added++
	in.turn.submit(in.submitting, in.added-1, use)
}

// close takes no more calls.
func (in *intake) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed {
		in.closed = true
		close(in.closing)
	}
}
