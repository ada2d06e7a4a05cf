package host

import (
	"cmp"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tasks"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
)

// news tells the embedder about what happens in a session outside all turns, in order.
type news struct {
	session  string
	caller   Caller
	observer *turn.Observer[Event] // nil where nobody observes
}

// newNews makes the news of a session of h.
func newNews(h *Host, s *Session) *news {
	n := &news{session: s.id, caller: s.options.Caller}
	n.caller.Chain = cmp.Or(n.caller.Chain, s.id)
	if h.options.Observe.Events != nil {
		n.observer = turn.NewObserver(h.observe)
	}
	return n
}

// tell passes an event on. It does not wait for the observer: its caller may have to reap a
// process.
func (n *news) tell(e Event) {
	if n.observer == nil {
		return
	}
	e.Session, e.Caller, e.Time = n.session, n.caller, time.Now()
	n.observer.PutLater(e)
}

// task tells about a background task that began or ended.
func (n *news) task(t tasks.Info) {
	n.tell(Event{Kind: EventTask, CallID: t.Call, Tool: t.Tool, Title: t.Title, Task: &t})
}

// mode tells about another permission mode.
func (n *news) mode(before, now permissions.Mode) {
	n.tell(Event{Kind: EventMode, Mode: &capability.ModeNews{Mode: now, Before: before}})
}

// cron tells about a prompt that came due.
func (n *news) cron(p capability.DuePrompt) { n.tell(Event{Kind: EventCron, Cron: &p}) }

// flush waits until the embedder has all events.
func (n *news) flush() {
	if n.observer != nil {
		n.observer.Flush()
	}
}
