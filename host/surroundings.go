package host

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
)

var _ pipeline.Turn = (*openTurn)(nil)

// Session implements [pipeline.Turn], as the methods below do.
func (t *openTurn) Session() *pipeline.Session { return &t.session.calls }

// Catalog is the tools of the session as the turn finds them.
func (t *openTurn) Catalog() pipeline.Catalog { return &t.tools }

// Files is the read state of files as the turn's calls see it.
func (t *openTurn) Files() *filestate.Turn { return t.files }

// Telling begins what a call tells.
func (t *openTurn) Telling(index int, use *abi.ToolUse) pipeline.Teller {
	if !t.listeners.any() {
		return telling{}
	}
	return telling{newSender(&t.listeners, t.session.news, index, use)}
}

// Stopped is why nothing more of the turn begins.
func (t *openTurn) Stopped() *string { return outermost(t).stopped.Load() }

// Holds reports whether results wait for a reader.
func (t *openTurn) Holds() bool { return t.listeners.feed != nil }

// Ask puts a question about a call of the turn to the person.
func (t *openTurn) Ask(ctx context.Context, callID string, tell pipeline.Teller, q *gate.Question) <-chan gate.Answer {
	return person{t, callID, tell}.ask(ctx, q)
}

// Leave lets a result leave. A reader who is slow holds it back where results take much
// memory, and with it the calls that would bring more.
func (t *openTurn) Leave(l pipeline.Leaving) {
	if t.ByModel() { // the results of calls that a call makes do not reach the model
		t.session.tools.learn(l.Result.Content)
	}
	t.keep(l, t.listeners.any())
	if feed := t.listeners.feed; feed != nil {
		feed.Wait(t.span.Ctx, t.session.host.options.maxHeld()/2)
	}
	if l.Tell.Listens() {
		tell, result := tellingOf(l.Tell), *l.Result
		tell.event(Event{Kind: EventResult, Result: &result, Elapsed: tell.elapsed()})
	}
}
