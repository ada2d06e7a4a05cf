package host

import (
	"crypto/rand"
	"time"

	"github.com/toolquay/toolquay/host/internal/turn"
)

// listeners get the events of one turn: the reader of the turn through feed, the embedder
// through observer. Either may be nil.
type listeners struct {
	feed     *turn.Feed[Event]
	observer *turn.Observer[Event]

	// session, turn, parent and depth are what all events of the turn have in common.
	session, turn, parent string
	depth                 int
}

// newListeners makes the listeners of a turn of s. Without a reader, f is nil.
func newListeners(s *Session, f *turn.Feed[Event], n *nesting) listeners {
	l := listeners{feed: f, session: s.id, depth: n.depth}
	if s.host.options.Observe.Events != nil {
		l.observer = turn.NewObserver(s.host.observe)
	}
	if l.any() {
		l.turn = rand.Text()
		if n.above != nil {
			l.parent = n.above.ID()
		}
	}
	return l
}

// any reports whether anybody listens.
func (l *listeners) any() bool { return l.feed != nil || l.observer != nil }

// tell passes an event on.
func (l *listeners) tell(e Event) {
	if !l.any() {
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
	e.Time, e.Session, e.Turn, e.Parent, e.Depth = time.Now(), l.session, l.turn, l.parent, l.depth
}

// interruptible tells whether the turn can be interrupted. The scheduler calls it with its
// mutex held.
func (l *listeners) interruptible(yes bool) {
	e := Event{Kind: EventInterruptible, Interruptible: yes}
	l.complete(&e)
	if l.feed != nil {
		l.feed.Put(e)
	}
	if l.observer != nil {
		l.observer.PutLater(e)
	}
}

// close ends the feed, and waits until the embedder has all events.
func (l *listeners) close() {
	if l.feed != nil {
		l.feed.Close()
	}
	if l.observer != nil {
		l.observer.Flush()
	}
}
