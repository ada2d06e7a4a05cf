package host

import (
	"context"
	"errors"
	"iter"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/session"
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
	inner *session.Stream
	feed  *turn.Feed[Event]
}

// Stream begins a turn. It must be closed, and its events be read to their end.
// Turns of one session run one after the other: calls wait until the one before
// has ended. It is part of a running call where ctx is that call's, as with
// [Session.Run]. The end of the session ends it, whether or not anybody reads.
func (s *Session) Stream(ctx context.Context) *Stream {
	st := s.stream(ctx)
	unlink := context.AfterFunc(st.inner.Context(), st.Close) //nolint:contextcheck // it is ctx's own, or the session's
	go func() {
		defer unlink()
		st.inner.Lending(func() { <-st.inner.Ended() })
	}()
	return st
}

func (s *Session) stream(ctx context.Context) *Stream {
	feed := turn.NewFeed(classify)
	return &Stream{s.core.NewStream(ctx, feed, s.listeners(feed)), feed}
}

// Add submits a call. Its turn may come at once.
func (st *Stream) Add(use abi.ToolUse) error {
	if st.inner.Context().Err() != nil || !st.inner.Add(use) {
		return ErrStreamClosed
	}
	return nil
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
	return &turn.Reader[Event]{Feed: st.feed, Yield: yield, Leave: st.leave}
}

// drain reads to the end.
func drain(r *turn.Reader[Event]) {
	for events := r.Feed.Take(); len(events) > 0; events = r.Feed.Take() {
		r.Read(events)
	}
}

// leave is what the reader's leaving means.
func (st *Stream) leave() {
	st.feed.Leave()
	st.inner.Cancel(errLeft)
	st.feed.Release()
}

// abandon ends the stream where its reader is gone. At the end there is nothing to
// end.
func (st *Stream) abandon() {
	st.leave()
	st.Close()
}

// Interrupt ends what may be interrupted, and lets what blocks it run to its end;
// what has not begun does not begin. The user wrote something new.
func (st *Stream) Interrupt() { st.inner.Interrupt() }

// Interruptible reports whether an interrupt would end all that runs.
func (st *Stream) Interruptible() bool { return st.inner.Interruptible() }

// Discard ends everything and lets no more results leave: the model's message is
// void. What was done already is told with [EventDiscarded].
func (st *Stream) Discard() {
	st.feed.Discard()
	st.inner.Discard(errDiscarded)
	st.feed.Release()
	st.Close()
}

// Close says that the model's message is complete.
func (st *Stream) Close() { st.inner.Close() }
