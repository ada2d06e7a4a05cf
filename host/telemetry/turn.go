package telemetry

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/toolquay/toolquay/host"
)

// turn is a turn under way.
type turn struct {
	// place counts turns, for the oldest to be told.
	place uint64

	mu sync.Mutex
	// ctx has the span that calls are below: the turn's own, or that of the call
	// which made them.
	ctx  context.Context //nolint:containedctx // it carries a span, for no call
	span trace.Span
	own  bool
	over bool
	// calls are those that have not ended, by their place in the turn: ids may be
	// there twice.
	calls map[int]*call
}

// call is a call that has not ended. The fields before tool do not change.
type call struct {
	id      string
	ctx     context.Context //nolint:containedctx // as turn's
	span    trace.Span
	session string
	depth   int
	// tool is what it is measured as, and running that it counts as such.
	tool    string
	running bool
	// reports counts what the call told of its progress.
	reports uint
	// asking is the wait for a person; nil while there is none.
	asking trace.Span
	// allowed are when capability calls that have not ended were, by name and in
	// that order.
	allowed map[string][]time.Time
}

// turn returns the turn of an event, which begins where it can be the turn's first;
// nil where it is over.
func (o *Observer) turn(e *host.Event) *turn {
	o.mu.Lock()
	t := o.turns[e.Turn]
	if t != nil || e.Turn == "" || e.Kind != host.EventTurn && e.Kind != host.EventQueued {
		o.mu.Unlock()
		return t
	}
	lost := o.makeRoom()
	o.began++
	t = &turn{place: o.began, calls: make(map[int]*call)}
	t.mu.Lock() // before others find it
	o.turns[e.Turn] = t
	above := o.caller(e)
	o.mu.Unlock()
	o.begin(t, e, above)
	t.mu.Unlock()
	if lost != nil {
		o.lose(lost)
	}
	return t
}

// makeRoom takes out the oldest turn where there are too many, and returns it. The
// caller holds the mutex.
func (o *Observer) makeRoom() *turn {
	if len(o.turns) < maxTurns {
		return nil
	}
	var id string
	var oldest *turn
	for i, t := range o.turns {
		if oldest == nil || t.place < oldest.place {
			id, oldest = i, t
		}
	}
	delete(o.turns, id)
	return oldest
}

// caller finds the call that made the calls of an event's turn. Ids are a model's,
// and unique in a turn only: the session and the depth tell which is meant. The
// caller holds the mutex.
func (o *Observer) caller(e *host.Event) *call {
	if e.Parent == "" {
		return nil
	}
	var found []*call
	for _, c := range o.live[e.Parent] {
		switch {
		case c.depth != e.Depth-1:
		case c.session == e.Session:
			return c
		default:
			found = append(found, c)
		}
	}
	if len(found) == 1 { // an agent's session, of which the call is in another
		return found[0]
	}
	return nil
}

// begin makes the turn's span, or takes that of the call which made it.
func (o *Observer) begin(t *turn, e *host.Event, above *call) {
	if above != nil {
		t.ctx, t.span = above.ctx, above.span
		return
	}
	parent := background
	if o.options.Parent != nil {
		parent = o.options.Parent(e.Session, e.Turn)
	}
	t.own = true
	t.ctx, t.span = o.tracer.Start(parent, "turn", trace.WithTimestamp(e.Time), trace.WithAttributes(
		keyConversation.String(e.Session), keyTurn.String(e.Turn),
	))
}

// endTurn ends a turn, with what of it has not ended.
func (o *Observer) endTurn(e *host.Event) {
	o.mu.Lock()
	t := o.turns[e.Turn]
	delete(o.turns, e.Turn)
	o.mu.Unlock()
	if t != nil {
		o.end(t, trace.WithTimestamp(e.Time))
	}
}

// lose ends a turn whose end was not told.
func (o *Observer) lose(t *turn) {
	t.mu.Lock()
	t.span.SetAttributes(keyLost.Bool(t.own))
	t.mu.Unlock()
	o.end(t)
}

func (o *Observer) end(t *turn, at ...trace.SpanEndOption) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for place, c := range t.calls {
		c.span.SetAttributes(keyLost.Bool(true))
		o.endCall(t, place, c, at...)
	}
	if t.own {
		t.span.End(at...)
	}
}

// add remembers a call.
func (o *Observer) add(t *turn, place int, c *call) {
	t.calls[place] = c
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live[c.id] = append(o.live[c.id], c)
}

// forget is the opposite of add.
func (o *Observer) forget(t *turn, place int, c *call) {
	delete(t.calls, place)
	o.mu.Lock()
	defer o.mu.Unlock()
	left := slices.DeleteFunc(o.live[c.id], func(other *call) bool { return other == c })
	if o.live[c.id] = left; len(left) == 0 {
		delete(o.live, c.id)
	}
}
