package turn

import (
	"context"
	"sync"
)

// maxReports bounds the progress and log events that wait for a slow reader;
// the oldest go first. Other events are never dropped.
const maxReports = 1000

// Kind says what an event means to a [Feed].
type Kind int

const (
	// Plain events are never dropped.
	Plain Kind = iota
	// Report is progress or a log line: the oldest are dropped where too many wait.
	Report
	// Result is the one result of a call.
	Result
)

// Feed carries a turn's events from its goroutines to its reader. Nothing but results
// ever waits for the reader; see [Feed.Wait]. It is safe for concurrent use.
type Feed[E any] struct {
	// classify says what an event is, and how many bytes of memory its result takes.
	classify func(*E) (kind Kind, size int64)

	mu      sync.Mutex
	queue   []E
	reports int
	// unread are the bytes of results that the reader has not seen.
	unread int64
	// handed is how many results were handed to the reader.
	handed int
	// released says that nobody waits for the reader any more, left that they take nothing
	// more, and void that the results are for nobody.
	released, left, void bool
	closed               bool
	wake                 chan struct{} // holds a token while there is something to take
	drained              chan struct{} // holds a token when results were read, or released was set
}

// NewFeed makes a feed of events that classify tells apart.
func NewFeed[E any](classify func(*E) (kind Kind, size int64)) *Feed[E] {
	return &Feed[E]{classify: classify, wake: make(chan struct{}, 1), drained: make(chan struct{}, 1)}
}

// Put adds an event, unless the feed is closed.
func (f *Feed[E]) Put(e E) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	kind, size := f.classify(&e)
	if kind == Report {
		if f.reports == maxReports {
			f.dropOldestReport()
		}
		f.reports++
	}
	f.unread += size
	f.queue = append(f.queue, e)
	signal(f.wake)
}

func (f *Feed[E]) dropOldestReport() {
	for i := range f.queue {
		if kind, _ := f.classify(&f.queue[i]); kind == Report {
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

// Close ends the feed after what is in it.
func (f *Feed[E]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	signal(f.wake)
}

// Poll returns the events there are, without waiting.
func (f *Feed[E]) Poll() []E {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.queue
	f.queue, f.reports = nil, 0
	return events
}

// Take waits for events and returns all there are; none is the end.
func (f *Feed[E]) Take() []E {
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

// Wait waits until the results that the reader has not seen take no more than limit
// bytes. It does not wait for a reader who left, nor once ctx has ended.
func (f *Feed[E]) Wait(ctx context.Context, limit int64) {
	for {
		f.mu.Lock()
		enough := f.unread <= limit || f.released
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
func (f *Feed[E]) read(e *E) {
	_, n := f.classify(e)
	if n == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unread -= n
	signal(f.drained)
}

// hand says that the reader is given an event.
func (f *Feed[E]) hand(e *E) {
	if kind, _ := f.classify(e); kind != Result {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handed++
}

// Arrived reports whether a result, by its place in the turn, is one that its reader
// has, or will have unless they leave.
func (f *Feed[E]) Arrived(index int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.void && (!f.left || index < f.handed)
}

// Leave says that the reader takes no more. It comes before what ends the turn, whose end
// asks what arrived; [Feed.Release] comes after, or calls would begin in between.
func (f *Feed[E]) Leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = true
}

// Discard has no result count as one that arrived. It comes before what ends the turn, as
// Leave does.
func (f *Feed[E]) Discard() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.void = true
}

// Release lets nobody wait for the reader from here on.
func (f *Feed[E]) Release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released = true
	signal(f.drained)
}

// Reader hands events to whoever ranges over them, until they leave.
type Reader[E any] struct {
	Feed *Feed[E]
	// Yield takes an event, and returns false to leave. Leave is called then, once.
	Yield func(E) bool
	Leave func()

	gone bool
}

// Read hands over some events.
func (r *Reader[E]) Read(events []E) {
	for i := range events {
		if !r.gone {
			r.Feed.hand(&events[i])
			if !r.Yield(events[i]) {
				r.gone = true
				r.Leave()
			}
		}
		r.Feed.read(&events[i])
	}
}
