package host

import (
	"runtime/debug"
	"sync"
	"time"
)

// observer tells the embedder of a turn's events, one at a time and in order. Who
// brings an event tells of those that are there; nobody waits for another's, so
// that an observer may do with the turn what it likes.
type observer struct {
	host *Host

	mu    sync.Mutex
	idle  sync.Cond // signalled when nobody tells any more
	queue []Event
	busy  bool
}

func newObserver(h *Host) *observer {
	o := &observer{host: h}
	o.idle.L = &o.mu
	return o
}

// put tells of an event, or leaves it to whoever tells already.
func (o *observer) put(e Event) {
	if o.add(e) {
		o.drain()
	}
}

// putLater is put for callers who hold a lock that an observer may want.
func (o *observer) putLater(e Event) {
	if o.add(e) {
		go o.drain()
	}
}

// add queues an event, and reports whether the caller is to drain the queue.
func (o *observer) add(e Event) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(o.queue, e)
	if o.busy {
		return false
	}
	o.busy = true
	return true
}

// drain tells of the events there are. An observer may end the goroutine that it is
// called on; then another one goes on.
func (o *observer) drain() {
	done := false
	defer func() {
		if !done {
			go o.drain()
		}
	}()
	for e, ok := o.next(); ok; e, ok = o.next() {
		o.host.observe(e)
	}
	done = true
}

// next takes the oldest event, and reports false when there is none any more.
func (o *observer) next() (e Event, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.queue, o.busy = nil, false
		o.idle.Broadcast()
		return e, false
	}
	e, o.queue[0] = o.queue[0], e
	o.queue = o.queue[1:]
	return e, true
}

// flush waits until everything was told.
func (o *observer) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.busy {
		o.idle.Wait()
	}
}

// observe tells the embedder of one event. A panic of theirs is no fault of the
// call that it is about.
func (h *Host) observe(e Event) {
	if h.options.Observe == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			h.options.Logger.Error("the observer of events panicked", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	h.options.Observe(e)
}
