package host

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/hooks"
	"github.com/toolquay/toolquay/permissions"
)

// EventKind says what an [Event] tells.
type EventKind string

// The kinds of event, in the order in which a call meets them.
const (
	// EventQueued: the call was submitted.
	EventQueued EventKind = "queued"
	// EventDecided: a permission decision was made, at either gate.
	EventDecided EventKind = "decided"
	// EventNeedsApproval: a person must decide and has not yet.
	EventNeedsApproval EventKind = "needs_approval"
	// EventHook: a hook was run.
	EventHook EventKind = "hook"
	// EventRewritten: a hook or the person wrote another input.
	EventRewritten EventKind = "rewritten"
	// EventStarted: the tool runs.
	EventStarted EventKind = "started"
	// EventCapability: a capability call ended.
	EventCapability EventKind = "capability"
	// EventProgress and EventLog: the tool reports.
	EventProgress EventKind = "progress"
	EventLog      EventKind = "log"
	// EventFinished: the call ended; its result waits for those before it.
	EventFinished EventKind = "finished"
	// EventResult: the call's one result. Results come in call order.
	EventResult EventKind = "result"
	// EventChanged: the call changed the session.
	EventChanged EventKind = "changed"
	// EventMessage: a hook has something to say to the person.
	EventMessage EventKind = "message"
	// EventStop: the model is not to go on after this turn.
	EventStop EventKind = "stop"
)

// Event is one thing that happened in a turn. Fields that do not apply to its
// kind are zero.
type Event struct {
	Kind EventKind
	Time time.Time
	// Index is the call's position in its turn, CallID its id, Tool its tool's
	// name.
	Index  int
	CallID string
	Tool   string
	// Title is one line for people: what the call is about.
	Title string
	// Input is the canonical input, with EventQueued and EventRewritten.
	Input json.RawMessage
	// Elapsed is the time since the call was queued, with EventStarted; since
	// it started, or was refused, with the events that follow.
	Elapsed time.Duration

	Decision *permissions.Decision
	Approval *Approval
	// Capability is the operation, and Err why it failed or nil, with
	// EventCapability.
	Capability string
	Err        error
	Progress   *abi.Progress
	Log        *abi.Log
	Result     *abi.ToolResult
	Change     *abi.Change
	Hook       *hooks.Record
	// Reason is for people, with EventMessage and EventStop.
	Reason string
}

// maxReports bounds the progress and log events that wait for a slow reader;
// the oldest go first. Other events are never dropped.
const maxReports = 1000

// feed carries a turn's events from its goroutines to its reader without ever
// making them wait.
type feed struct {
	mu      sync.Mutex
	queue   []Event
	reports int
	wake    chan struct{} // holds a token while there is something to take
	closed  bool
}

func newFeed() *feed { return &feed{wake: make(chan struct{}, 1)} }

// put adds an event, unless the reader is gone.
func (f *feed) put(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if isReport(e) {
		if f.reports == maxReports {
			f.dropOldestReport()
		}
		f.reports++
	}
	f.queue = append(f.queue, e)
	f.signal()
}

func isReport(e Event) bool { return e.Kind == EventProgress || e.Kind == EventLog }

func (f *feed) dropOldestReport() {
	for i, e := range f.queue {
		if isReport(e) {
			f.queue = append(f.queue[:i], f.queue[i+1:]...)
			f.reports--
			return
		}
	}
}

func (f *feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// close ends the feed after what is in it.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.signal()
}

// poll returns the events there are, without waiting.
func (f *feed) poll() []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.queue
	f.queue, f.reports = nil, 0
	return events
}

// take waits for events and returns all there are; none is the end.
func (f *feed) take() []Event {
	for {
		f.mu.Lock()
		events, closed := f.queue, f.closed
		f.queue, f.reports = nil, 0
		f.mu.Unlock()
		if len(events) > 0 || closed {
			if closed {
				f.signal() // for the next take
			}
			return events
		}
		<-f.wake
	}
}
