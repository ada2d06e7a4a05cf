package host

import (
	"context"
	"sync/atomic"

	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/traits"
)

var _ pipeline.Turn = (*openTurn)(nil)

// Session implements [pipeline.Turn], as the methods below do.
func (t *openTurn) Session() *pipeline.Session { return &t.session.calls }

// Catalog is the tools of the session as the turn finds them.
func (t *openTurn) Catalog() pipeline.Catalog { return catalog{t.session, t.plugins} }

// Files is the read state of files as the turn's calls see it.
func (t *openTurn) Files() *filestate.Turn { return t.files }

// Ask puts a question about a call of the turn to the person.
func (t *openTurn) Ask(ctx context.Context, callID string, tell pipeline.Teller, q *gate.Question) <-chan gate.Answer {
	return person{t, callID, tell}.ask(ctx, q)
}

// ByModel reports whether the turn's calls are the model's own.
func (t *openTurn) ByModel() bool { return t.within == nil }

// Above are the calls of the session that the turn is made by.
func (t *openTurn) Above() []traits.Held {
	var above []traits.Held
	for c := t.within; c != nil; c = turnOf(c).within {
		above = append(above, c.Held())
	}
	return above
}

// Depth is how many calls are above the turn's.
func (t *openTurn) Depth() int { return t.depth }

// Altered counts the calls that may have changed anything.
func (t *openTurn) Altered() *atomic.Int64 { return &t.altered }

// Stopped is why nothing more of the turn begins.
func (t *openTurn) Stopped() *string { return t.outermost().stopped.Load() }

// Holds reports whether results wait for a reader.
func (t *openTurn) Holds() bool { return t.feed != nil }

// LeftBehind says that something goes on after a result.
func (t *openTurn) LeftBehind() { t.behind.Store(true) }

// Leave lets a result leave. A reader who is slow holds it back where results take much
// memory, and with it the calls that would bring more.
func (t *openTurn) Leave(l pipeline.Leaving) {
	if t.ByModel() { // the results of calls that a call makes do not reach the model
		t.session.learn(l.Result.Content)
	}
	t.keep(l)
	if t.feed != nil {
		t.feed.Wait(t.ctx, t.session.host.options.maxHeld()/2)
	}
	if tell := tellingOf(l.Tell); tell != nil {
		result := *l.Result
		tell.event(Event{Kind: EventResult, Result: &result, Elapsed: tell.elapsed()})
	}
}
