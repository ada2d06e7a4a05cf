package session

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/turn"
)

// Stream is a turn whose calls come one by one. It is safe for concurrent use.
type Stream struct {
	turn  *Turn
	calls *intake
	// place is where it waits for its turn; nil where it need not.
	place *turn.Place
	ended chan struct{} // closed when the last result has left
}

// NewStream queues a turn. It begins when the turns before it have ended.
func (s *Session) NewStream(ctx context.Context, f Feed, l Listeners) *Stream {
	t := newTurn(ctx, s, 0, f, l)
	t.schedule()
	st := &Stream{turn: t, calls: newIntake(t), ended: make(chan struct{})}
	st.place = s.queue.Join(t.within != nil, t.tryLock)
	begun := st.place == nil
	if begun {
		st.calls.begin()
	}
	go st.conduct(begun)
	return st
}

// conduct leads the stream from its beginning to its end.
func (st *Stream) conduct(begun bool) {
	// Deferred, as an observer may end this goroutine.
	defer close(st.ended)
	defer st.calls.cancel(nil)
	has := begun && st.turn.within == nil
	defer func() { st.turn.finish(has) }()
	if !begun {
		pipeline.GrowStack() // the calls that came early are checked here
		has = st.waitInPlace()
		st.calls.begin()
	}
	<-st.calls.closing
}

// waitInPlace waits for the streams in front, and reports whether the turn has taken the
// session's.
func (st *Stream) waitInPlace() bool {
	has := st.place.Wait(st.calls.submitting, st.turn.lock)
	if st.turn.tools.set.Set == nil {
		st.turn.tools.set = st.turn.session.Rules.View().Tools // it ended in the queue
	}
	return has
}

// Context ends with the turn.
func (st *Stream) Context() context.Context { return st.turn.span.Ctx }

// Ended is closed when the last result has left.
func (st *Stream) Ended() <-chan struct{} { return st.ended }

// Lending does something that takes as long as the turn, see [Turn].
func (st *Stream) Lending(do func()) { st.turn.lending(do) }

// Add submits a call, and reports false once the stream is closed. Its turn may come at
// once.
func (st *Stream) Add(use abi.ToolUse) bool { return st.calls.add(use) }

// Cancel ends all that runs.
func (st *Stream) Cancel(cause error) { st.turn.span.Cancel(cause) }

// Interrupt ends what may be interrupted, and begins nothing more.
func (st *Stream) Interrupt() {
	st.turn.interruption.happen()
	st.turn.jobs.Interrupt(pipeline.ErrInterrupted)
	st.calls.cancel(pipeline.ErrInterrupted)
}

// Interruptible reports whether an interrupt would end all that runs.
func (st *Stream) Interruptible() bool { return st.turn.jobs.Interruptible() }

// Discard ends everything and lets no more results leave.
func (st *Stream) Discard(cause error) {
	st.turn.jobs.Discard(cause)
	st.calls.cancel(cause)
}

// Close takes no more calls.
func (st *Stream) Close() { st.calls.close() }
