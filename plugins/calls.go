package plugins

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
)

// Calls counts the calls under way in something that is to be closed once they
// have ended. The zero value is ready for use.
type Calls struct {
	// under is how many there are, and shutting more once no more get in.
	under atomic.Int64

	mu    sync.Mutex
	once  sync.Once
	ended chan struct{} // made when the last call may come
}

// shutting is far below any number of calls.
const shutting = math.MinInt64 / 2

// Enter counts a call in, unless no more get in. Each Enter that returns nil
// needs a Leave.
func (c *Calls) Enter(plugin string) error {
	if c.under.Add(1) > 0 {
		return nil
	}
	c.Leave()
	return abi.Errorf(abi.CodeCancelled, "plugin %s is being unloaded", plugin)
}

// Leave counts a call out.
func (c *Calls) Leave() {
	if c.under.Add(-1) == shutting {
		c.once.Do(func() { close(c.ended) })
	}
}

// shut lets no more calls in, and reports whether it was the first to do so.
func (c *Calls) shut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return false
	}
	c.ended = make(chan struct{})
	if c.under.Add(shutting) == shutting {
		c.once.Do(func() { close(c.ended) })
	}
	return true
}

// wait waits for the calls under way after shut, or for ctx.
func (c *Calls) wait(ctx context.Context, plugin string) error {
	select {
	case <-c.ended:
		return nil
	default:
	}
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return abi.Errorf(abi.CodeTimeout, "plugin %s still has calls under way: %w", plugin, context.Cause(ctx))
	}
}

// Drain lets no more calls in and waits for those under way, or for ctx. It
// reports true to its first caller, whose task it is to free the instance.
func (c *Calls) Drain(ctx context.Context, plugin string) (first bool, err error) {
	if !c.shut() {
		return false, nil
	}
	return true, c.wait(ctx, plugin)
}
