package hosttest

import (
	"sync"
	"time"
)

// Clock is a clock that stands still until it is advanced. Its Now is for
// [host.Options.Plugins.Clock]: the time that plugins are told. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows this time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now is the time it shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves it forward, or back if d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
