package host

import (
	"context"
	"sync"
)

// line has the streams of a session run in the order in which they were made. Whoever
// waits for the token of the turn that runs gets it in the order of asking, but a
// stream asks on a goroutine of its own, which may come late.
type line struct {
	mu   sync.Mutex
	last *place
}

// place is a stream's in the line.
type place struct {
	before *place // nil at the front
	left   chan struct{}
}

// join begins a turn that need not wait, or else gives it the last place.
func (l *line) join(t *turn) *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	if (t.within != nil || l.last.gone()) && t.tryLock() {
		return nil
	}
	l.last = &place{before: l.last, left: make(chan struct{})}
	return l.last
}

// gone reports whether nobody waits in a place any more.
func (p *place) gone() bool {
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

// wait is [turn.lock], when those in front have done it.
func (p *place) wait(ctx context.Context, t *turn) bool {
	if before := p.before; before != nil {
		p.before = nil // a long line is not kept
		select {
		case <-before.left:
		case <-ctx.Done():
			go func() { // who is behind does not pass those in front
				<-before.left
				close(p.left)
			}()
			t.plugins = t.session.view().plugins
			return false
		}
	}
	defer close(p.left)
	return t.lock(ctx)
}
