package telemetry

import (
	"context"
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
	chain   string
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

// turn returns the turn of an event, or nil if it is over. It begins with the first event.
func (o *Observer) turn(e *host.Event) *turn {
	t, lost := o.underway.turn(e, func(t *turn, above *call) { o.begin(t, e, above) })
	if lost != nil {
		o.lose(lost)
	}
	return t
}

// begin makes the turn's span, or takes that of the call which made it.
func (o *Observer) begin(t *turn, e *host.Event, above *call) {
	if above != nil {
		t.ctx, t.span = above.ctx, above.span
		return
	}
	parent := background
	if e.Context != nil {
		parent = context.WithoutCancel(e.Context)
	}
	t.own = true
	t.ctx, t.span = o.tracer.Start(parent, "turn", trace.WithTimestamp(e.Time), trace.WithAttributes(from(e)...))
}

// endTurn ends a turn, with what of it has not ended.
func (o *Observer) endTurn(e *host.Event) {
	if t := o.underway.take(e.Turn); t != nil {
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
