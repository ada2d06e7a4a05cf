package host

import (
	"sync/atomic"

	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
)

var _ pipeline.Turn = (*openTurn)(nil)

// Session implements [pipeline.Turn], as the methods below do.
func (t *openTurn) Session() *pipeline.Session { return &t.session.calls }

// Catalog is the tools of the session as the turn finds them.
func (t *openTurn) Catalog() pipeline.Catalog { return catalog{t.session, t.plugins} }

// Files is the read state of files as the turn's calls see it.
func (t *openTurn) Files() *filestate.Turn { return t.files }

// Within is the running call of the session that makes the turn.
func (t *openTurn) Within() *pipeline.Call { return t.within }

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
func (t *openTurn) Leave(c *pipeline.Call) {
	if t.within == nil { // the results of calls that a call makes do not reach the model
		t.session.learn(c.Result().Content)
	}
	t.keep(c)
	if t.feed != nil {
		t.feed.Wait(t.ctx, t.session.host.options.maxHeld()/2)
	}
	if l := tellingOf(c); l.Listens() {
		result := *c.Result()
		l.event(Event{Kind: EventResult, Result: &result, Elapsed: l.elapsed()})
	}
}
