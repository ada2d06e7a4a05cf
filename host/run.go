package host

import (
	"context"
	"iter"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/pipeline"
)

// Run runs the calls of one model message and yields what happens as it
// happens. Each call has exactly one [EventResult]; those come in call order.
// The sequence can be ranged over once. Leaving the loop early cancels what
// still runs, as does the end of ctx or of the session; Run returns when the last
// result has left.
//
// Turns of one session run one after the other. A turn that is run under the
// context of a running call of the same session is part of that call instead: see
// [NativeTool].Run.
func (s *Session) Run(ctx context.Context, uses []abi.ToolUse) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		st := s.stream(ctx)
		defer st.abandon() // what the reader does with an event may panic
		st.turn.lending(func() { st.run(uses, yield) })
	}
}

// run submits the calls and reads their events, all on the caller's goroutine:
// checking a schema takes more stack than a new goroutine has, and growing it costs
// more than checking.
func (st *Stream) run(uses []abi.ToolUse, yield func(Event) bool) {
	r := st.reader(yield)
	for _, use := range uses {
		_ = st.calls.add(use) // nobody else closes this stream
		r.Read(r.Feed.Poll())
	}
	st.Close()
	drain(r)
}

// Results runs the calls of one model message and returns their results, in
// call order. It is quicker than Run for those who have no use for events: the
// last call runs on the caller's own goroutine.
func (s *Session) Results(ctx context.Context, uses []abi.ToolUse) []abi.ToolResult {
	t := newTurn(ctx, s, len(uses), nil)
	t.lending(func() { //nolint:contextcheck // the turn has its own
		has := t.lock(t.span.Ctx)
		defer t.finish(has)
		t.listeners.tell(Event{Kind: EventTurn})
		for i, use := range uses {
			_ = t.jobs.Add(pipeline.Submit(t.span.Ctx, t, i, use)) // only Close refuses a job
		}
	})
	return t.list
}
