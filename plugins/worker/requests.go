package worker

import (
	"sync"

	"github.com/toolquay/toolquay/plugins"
)

// maxRequests bounds the answers of one call that are under way or unread. The
// runners hold guests to 32.
const maxRequests = 64

// maxRequested bounds the bytes of the requests of one call that are under way.
// The runners hold guests to 64 MiB; an answer and the next request may cross.
const maxRequested = 128 << 20

// requests are the capability calls of one call.
type requests struct {
	do plugins.CapabilityFunc // nil where none is offered

	// These belong to who receives.
	last  uint32
	asked int

	mu    sync.Mutex
	open  map[uint32]*request
	bytes int // of those
}

// next checks the number of a request and counts it.
func (q *requests) next(id uint32, limit int) error {
	switch q.asked++; {
	case q.do == nil:
		return violate("made a capability call where none is offered")
	case id <= q.last:
		return violate("numbered a capability call %d after %d", id, q.last)
	case q.asked > limit:
		return violate("passed on more than %d capability calls (limit capability_calls)", limit)
	}
	q.last = id
	return nil
}

// add takes a request in and begins it, before anybody can find it.
func (q *requests) add(r *request, begin func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open) >= maxRequests {
		return violate("has more than %d capability calls under way", maxRequests)
	}
	if q.bytes += r.size; q.bytes > maxRequested {
		return violate("has capability calls of over %d bytes under way", maxRequested)
	}
	if q.open == nil {
		q.open = make(map[uint32]*request, 4)
	}
	q.open[r.id] = r
	begin()
	return nil
}

// find returns a request that is under way. One that is over is nil, and no
// fault: its end and what the worker sends may cross.
func (q *requests) find(id uint32) (*request, error) {
	if id == 0 || id > q.last {
		return nil, violate("named the capability call %d, which was never made", id)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open[id], nil
}

// done notes that a request was answered.
func (q *requests) done(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open[r.id] == r {
		delete(q.open, r.id)
		q.bytes -= r.size
	}
}

// take takes those that are left.
func (q *requests) take() map[uint32]*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.open
	q.open = nil
	return left
}
