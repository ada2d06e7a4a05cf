package host

import (
	"context"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// maxReports bounds the progress and log events that wait for a slow reader;
// the oldest go first. Other events are never dropped.
const maxReports = 1000

// feed carries a turn's events from its goroutines to its reader. Nothing but
// results ever waits for the reader (see room).
type feed struct {
	mu      sync.Mutex
	queue   []Event
	reports int
	// unread are the bytes of results that the reader has not seen.
	unread int64
	// handed is how many results were handed to the reader.
	handed int
	// hurried says that nobody waits for the reader any more, and void that the results
	// are for nobody.
	hurried, void bool
	closed        bool
	wake          chan struct{} // holds a token while there is something to take
	drained       chan struct{} // holds a token when results were read, or hurried was set
}

func newFeed() *feed {
	return &feed{wake: make(chan struct{}, 1), drained: make(chan struct{}, 1)}
}

// put adds an event, unless the feed is closed.
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
	f.unread += weight(&e)
	f.queue = append(f.queue, e)
	signal(f.wake)
}

func isReport(e Event) bool { return e.Kind == EventProgress || e.Kind == EventLog }

// weight is what an event counts against the memory that results may take.
func weight(e *Event) int64 {
	if e.Kind != EventResult {
		return 0
	}
	return heldBy(e.Result)
}

// heldBy is about the memory that a result takes, in bytes.
func heldBy(r *abi.ToolResult) int64 {
	n := len(r.Structured) + len(r.Meta)
	for i := range r.Content {
		b := &r.Content[i]
		n += len(b.Text) + len(b.Data)
		if b.Spilled != nil {
			n += len(b.Spilled.Head) + len(b.Spilled.Tail)
		}
	}
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return int64(n)
}

func (f *feed) dropOldestReport() {
	for i, e := range f.queue {
		if isReport(e) {
			f.queue = append(f.queue[:i], f.queue[i+1:]...)
			f.reports--
			return
		}
	}
}

// signal leaves a token in a channel that holds one.
func signal(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// close ends the feed after what is in it.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	signal(f.wake)
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
				signal(f.wake) // for the next take
			}
			return events
		}
		<-f.wake
	}
}

// room waits until the results that the reader has not seen take no more than
// limit bytes. It does not wait for a reader who left, nor for anybody once ctx has
// ended.
func (f *feed) room(ctx context.Context, limit int64) {
	for {
		f.mu.Lock()
		enough := f.unread <= limit || f.hurried
		f.mu.Unlock()
		if enough {
			return
		}
		select {
		case <-f.drained:
		case <-ctx.Done():
			return
		}
	}
}

// read says that the reader has seen an event.
func (f *feed) read(e *Event) {
	n := weight(e)
	if n == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unread -= n
	signal(f.drained)
}

// hand says that the reader is given an event.
func (f *feed) hand(e *Event) {
	if e.Kind != EventResult {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handed++
}

// arrived reports whether a result, by its place in the turn, is one that its reader
// has, or will have unless they leave.
func (f *feed) arrived(index int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.void && (!f.hurried || index < f.handed)
}

// discard has no result count as one that arrived, and nobody wait for the reader.
func (f *feed) discard() {
	f.mu.Lock()
	f.void = true
	f.mu.Unlock()
	f.hurry()
}

// hurry has nobody wait for the reader from here on.
func (f *feed) hurry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hurried = true
	signal(f.drained)
}

// reader hands events to whoever ranges over them, until they leave.
type reader struct {
	feed  *feed
	yield func(Event) bool
	leave func()
	gone  bool
}

func (r *reader) read(events []Event) {
	for i := range events {
		if !r.gone {
			r.feed.hand(&events[i])
			if !r.yield(events[i]) {
				r.gone = true
				r.leave()
			}
		}
		r.feed.read(&events[i])
	}
}

var errLeft = abi.Errorf(abi.CodeCancelled, "the reader of the turn's events left")
