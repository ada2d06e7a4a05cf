package session

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
)

var _ pipeline.Turn = (*Turn)(nil)

// Session implements [pipeline.Turn], as the methods below do.
func (t *Turn) Session() *pipeline.Session { return &t.session.Calls }

// Catalog is the tools of the session as the turn finds them.
func (t *Turn) Catalog() pipeline.Catalog { return &t.tools }

// Files is the read state of files as the turn's calls see it.
func (t *Turn) Files() *filestate.Turn { return t.files }

// Telling begins what a call tells.
func (t *Turn) Telling(index int, use *abi.ToolUse) pipeline.Teller {
	return t.listeners.Telling(index, use)
}

// Stopped is why nothing more of the turn begins.
func (t *Turn) Stopped() *string { return outermost(t).stopped.Load() }

// Holds reports whether results wait for a reader.
func (t *Turn) Holds() bool { return t.feed != nil }

// Question puts one of a running call to the person.
func (t *Turn) Question(ctx context.Context, q *pipeline.Question) (capability.Reply, error) {
	return t.listeners.Question(ctx, t, q)
}

// Ask puts a question about a call of the turn to the person.
func (t *Turn) Ask(ctx context.Context, callID string, tell pipeline.Teller, q *gate.Question) <-chan gate.Answer {
	return t.listeners.Ask(ctx, t, callID, tell, q)
}

// Leave lets a result leave. A reader who is slow holds it back where results take much
// memory, and with it the calls that would bring more.
func (t *Turn) Leave(l pipeline.Leaving) {
	if t.ByModel() { // the results of calls that a call makes do not reach the model
		t.session.Tools.learn(l.Result.Content)
	}
	if t.left != nil {
		defer close(t.left)
	}
	t.keep(l)
	if t.feed != nil {
		t.feed.Wait(t.span.Ctx, t.session.Host.tuned().Limits.maxHeld()/2)
	}
	if l.Tell.Listens() {
		l.Tell.Left(*l.Result)
	}
}
