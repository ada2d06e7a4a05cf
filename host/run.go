package host

import (
	"context"
	"iter"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
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
		st.inner.Lending(func() { st.run(uses, yield) })
	}
}

// run submits the calls and reads their events, all on the caller's goroutine:
// checking a schema takes more stack than a new goroutine has, and growing it costs
// more than checking.
func (st *Stream) run(uses []abi.ToolUse, yield func(Event) bool) {
	r := st.reader(yield)
	for _, use := range uses {
		_ = st.inner.Add(use) // nobody else closes this stream
		r.Read(r.Feed.Poll())
	}
	st.Close()
	drain(r)
}

// Call runs one call that is of no message, and yields what happens as it happens, as
// [Session.Run] does. It is for programs whose calls come one at a time, from several places at
// once, such as the clients of a server. Calls that overlap are ordered as those of a message
// are, but each is a turn of its own: it ends with its ctx, its result leaves as soon as there
// is one, and the failure of one ends no other. Turns wait until no such call runs, and
// these wait for a turn. Where tools have changed since the calls under way began, a call of one
// that has waits for these, and so does one that lists tools or loads skills.
func (s *Session) Call(ctx context.Context, use abi.ToolUse) iter.Seq[Event] {
	if s.core.Runs(ctx) {
		return s.Run(ctx, []abi.ToolUse{use})
	}
	return func(yield func(Event) bool) {
		feed := turn.NewFeed(classify)
		ctx, cancel := context.WithCancelCause(ctx)
		leave := func() {
			feed.Leave()
			cancel(errLeft)
			feed.Release()
		}
		defer leave() // what the reader does with an event may panic
		go s.core.Single(ctx, use, feed, s.listeners(feed))
		drain(&turn.Reader[Event]{Feed: feed, Yield: yield, Leave: leave})
	}
}

// Results runs the calls of one model message and returns their results, in
// call order. It is quicker than Run for those who have no use for events: the
// last call runs on the caller's own goroutine.
func (s *Session) Results(ctx context.Context, uses []abi.ToolUse) []abi.ToolResult {
	return s.core.Results(ctx, uses, s.listeners(nil))
}

// Fit holds the results of one turn, in call order, to what a model is to be sent of
// them (see [ResultOptions]), and returns them as they are to be sent: what was
// replaced before is replaced the same way, whoever asks and whenever. It is for
// those who keep results as they left ([EventResult]) and put together anew what
// they send; what [Session.Results] returns has gone through it.
func (s *Session) Fit(rs []abi.ToolResult) []abi.ToolResult {
	rs = slices.Clone(rs)
	s.core.Storage.Results().Turn(rs, nil)
	return rs
}

// Explain judges a call as it would be judged now, without running it, its
// tool's own check or hooks, and without asking anybody. Faults of the call are
// those that running it would have as its result.
func (s *Session) Explain(ctx context.Context, use abi.ToolUse) (permissions.Explanation, error) {
	return s.core.Explain(ctx, &s.quiet, use)
}
