package host

import (
	"context"
	"errors"
	"iter"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/turn"
)

// ErrStreamClosed is what Add answers after Close, Discard, or the end of the
// stream's context.
var ErrStreamClosed = errors.New("the stream takes no more calls")

// The causes of an end that the stream's methods set off.
var (
	errLeft      = abi.Errorf(abi.CodeCancelled, "the reader of the turn's events left")
	errDiscarded = abi.Errorf(abi.CodeCancelled, "the model's message was discarded")
)

// Stream is a turn whose calls come one by one, while the model is still
// writing. Its methods are safe for concurrent use.
type Stream struct {
	turn  *openTurn
	calls *intake
	// place is where it waits for its turn; nil where it need not.
	place *turn.Place
	ended chan struct{} // closed when the last result has left
}

// Stream begins a turn. It must be closed, and its events be read to their end.
// Turns of one session run one after the other: calls wait until the one before
// has ended. It is part of a running call where ctx is that call's, as with
// [Session.Run]. The end of the session ends it, whether or not anybody reads.
func (s *Session) Stream(ctx context.Context) *Stream {
	st := s.stream(ctx)
	unlink := context.AfterFunc(st.turn.span.Ctx, st.Close) //nolint:contextcheck // it is ctx's own, or the session's
	go func() {
		defer unlink()
		st.turn.lending(func() { <-st.ended })
	}()
	return st
}

func (s *Session) stream(ctx context.Context) *Stream {
	t := newTurn(ctx, s, 0, turn.NewFeed(classify))
	st := &Stream{turn: t, calls: newIntake(t), ended: make(chan struct{})}
	st.place = s.queue.Join(t.within != nil, t.tryLock)
	begun := st.place == nil
	if begun {
		st.calls.begin()
	}
	go st.conduct(begun) //nolint:contextcheck // as above
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
	if st.turn.tools.plugins == nil {
		st.turn.tools.plugins = st.turn.session.rules.View().Plugins // it ended in the queue
	}
	return has
}

// Add submits a call. Its turn may come at once.
func (st *Stream) Add(use abi.ToolUse) error {
	if st.turn.span.Ctx.Err() != nil {
		return ErrStreamClosed
	}
	return st.calls.add(use)
}

// Events yields what happens as it happens, as [Session.Run] does, and ends when
// the stream is closed and all of its results have left. It can be ranged over
// once. Leaving the loop early cancels what still runs.
func (st *Stream) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		defer st.abandon()
		drain(st.reader(yield))
	}
}

// reader hands events to yield.
func (st *Stream) reader(yield func(Event) bool) *turn.Reader[Event] {
	return &turn.Reader[Event]{Feed: st.turn.listeners.feed, Yield: yield, Leave: st.leave}
}

// drain reads to the end.
func drain(r *turn.Reader[Event]) {
	for events := r.Feed.Take(); len(events) > 0; events = r.Feed.Take() {
		r.Read(events)
	}
}

// leave is what the reader's leaving means.
func (st *Stream) leave() {
	st.turn.span.Cancel(errLeft)
	st.turn.listeners.feed.Release()
}

// abandon ends the stream where its reader is gone. At the end there is nothing to
// end.
func (st *Stream) abandon() {
	st.leave()
	st.Close()
}

// Interrupt ends what may be interrupted, and lets what blocks it run to its end;
// what has not begun does not begin. The user wrote something new.
func (st *Stream) Interrupt() {
	st.turn.jobs.Interrupt(pipeline.ErrInterrupted)
	st.calls.cancel(pipeline.ErrInterrupted)
}

// Interruptible reports whether an interrupt would end all that runs.
func (st *Stream) Interruptible() bool { return st.turn.jobs.Interruptible() }

// Discard ends everything and lets no more results leave: the model's message is
// void. What was done already is told with [EventDiscarded].
func (st *Stream) Discard() {
	st.turn.jobs.Discard(errDiscarded)
	st.calls.cancel(errDiscarded)
	st.turn.listeners.feed.Discard()
	st.Close()
}

// Close says that the model's message is complete.
func (st *Stream) Close() { st.calls.close() }
