package turn

import "sync"

// Observer passes a turn's events on, one at a time and in order. The goroutine that
// brings an event also passes on those that are queued; none waits for another one, so
// that the function called may do with the turn what it likes. It is safe for concurrent
// use.
type Observer[E any] struct {
	tell func(E)

	mu    sync.Mutex
	idle  sync.Cond // signalled when nothing is passed on any more
	queue []E
	busy  bool
}

// NewObserver makes one that calls tell for each event.
func NewObserver[E any](tell func(E)) *Observer[E] {
	o := &Observer[E]{tell: tell}
	o.idle.L = &o.mu
	return o
}

// Put passes an event on, or leaves it to the goroutine that passes events on already.
func (o *Observer[E]) Put(e E) {
	if o.add(e) {
		o.drain()
	}
}

// PutLater is Put for callers that hold a lock which the function called may want.
func (o *Observer[E]) PutLater(e E) {
	if o.add(e) {
		go o.drain()
	}
}

// add queues an event, and reports whether the caller is to drain the queue.
func (o *Observer[E]) add(e E) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(o.queue, e)
	if o.busy {
		return false
	}
	o.busy = true
	return true
}

// drain passes on the queued events. The function called may end the goroutine that it is
// called on; then another one goes on.
func (o *Observer[E]) drain() {
	done := false
	defer func() {
		if !done {
			go o.drain()
		}
	}()
	for e, ok := o.next(); ok; e, ok = o.next() {
		o.tell(e)
	}
	done = true
}

// next takes the oldest event, and reports false when there is none any more.
func (o *Observer[E]) next() (e E, ok bool) {
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

// Flush waits until everything was passed on.
func (o *Observer[E]) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.busy {
		o.idle.Wait()
	}
}
