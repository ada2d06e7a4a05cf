package turn

import (
	"context"
	"sync"
)

// Queue lets the streams of a session run in the order in which they were made. A
// session's turn is a lock, whose waiters get it in the order of asking, but a stream asks
// on a goroutine of its own, which may come late. The zero value is an empty queue.
type Queue struct {
	mu   sync.Mutex
	last *Place
}

// Place is a stream's place in a [Queue].
type Place struct {
	before *Place // nil at the front
	left   chan struct{}
}

// Join returns nil where a turn need not wait and tryLock has begun it, and else the last
// place. A turn that passes belongs to one that runs, and waits for nobody.
func (q *Queue) Join(passes bool, tryLock func() bool) *Place {
	q.mu.Lock()
	defer q.mu.Unlock()
	if (passes || q.last.gone()) && tryLock() {
		return nil
	}
	q.last = &Place{before: q.last, left: make(chan struct{})}
	return q.last
}

// gone reports whether nobody waits in a place any more; nil is the empty queue.
func (p *Place) gone() bool {
	if p == nil {
		return true
	}
	select {
	case <-p.left:
		return true
	default:
		return false
	}
}

// Wait calls lock once those in front have called theirs, and reports what it returns:
// whether the turn has the session's lock. It reports false where ctx ends first.
func (p *Place) Wait(ctx context.Context, lock func(context.Context) bool) bool {
	if before := p.before; before != nil {
		p.before = nil // a long queue is not kept in memory
		select {
		case <-before.left:
		case <-ctx.Done():
			go func() { // those behind do not pass those in front
				<-before.left
				close(p.left)
			}()
			return false
		}
	}
	defer close(p.left)
	return lock(ctx)
}
