package host

import (
	"time"

	"github.com/toolquay/toolquay/host/internal/turn"
)

// listeners get the events of one turn: the reader of the turn through feed, the embedder
// through observer. Either may be nil.
type listeners struct {
	of       *Session
	feed     *turn.Feed[Event]
	observer *turn.Observer[Event]

	// turn and caller are what all events of the turn have in common.
	turn   string
	caller Caller
}

// listeners makes the listeners of a turn. Without a reader, f is nil.
func (s *Session) listeners(f *turn.Feed[Event]) *listeners {
	if s.host.options.Observe.Events == nil {
		if f == nil {
			return &s.quiet
		}
		return &listeners{of: s, feed: f}
	}
	return &listeners{of: s, feed: f, observer: turn.NewObserver(s.host.observe)}
}

// Any reports whether anybody listens.
func (l *listeners) Any() bool { return l.feed != nil || l.observer != nil }

// tell passes an event on.
func (l *listeners) tell(e Event) {
	if !l.Any() {
		return
	}
	l.complete(&e)
	if l.feed != nil {
		l.feed.Put(e)
	}
	if l.observer != nil {
		l.observer.Put(e)
	}
}

// complete fills in what all events have.
func (l *listeners) complete(e *Event) {
	e.Time, e.Session, e.Turn, e.Caller = time.Now(), l.of.id, l.turn, l.caller
}

// Interruptible tells whether the turn can be interrupted. The scheduler calls it with its
// mutex held.
func (l *listeners) Interruptible(yes bool) {
	e := Event{Kind: EventInterruptible, Interruptible: yes}
	l.complete(&e)
	if l.feed != nil {
		l.feed.Put(e)
	}
	if l.observer != nil {
		l.observer.PutLater(e)
	}
}

// Close waits until the embedder has all events, and then ends the feed: who reads the turn goes on
// after that.
func (l *listeners) Close() {
	if l.observer != nil {
		l.observer.Flush()
	}
	if l.feed != nil {
		l.feed.Close()
	}
}
