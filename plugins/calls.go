package plugins

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
)

// calls counts the calls under way in something that is to be closed once they
// have ended. The zero value is ready for use.
type calls struct {
	// under is how many there are, and shutting more once no more get in.
	under atomic.Int64

	shutOnce, endOnce sync.Once
	ended             chan struct{} // made when the last call may come
}

// shutting is far below any number of calls.
const shutting = math.MinInt64 / 2

// enter counts a call in, unless no more get in. Each enter that returns nil
// needs a leave.
func (c *calls) enter(plugin string) error {
	if c.under.Add(1) > 0 {
		return nil
	}
	c.leave()
	return abi.Errorf(abi.CodeCancelled, "plugin %s is being unloaded", plugin)
}

// leave counts a call out.
func (c *calls) leave() { c.count(-1) }

// shut lets no more calls in.
func (c *calls) shut() {
	c.shutOnce.Do(func() {
		c.ended = make(chan struct{})
		c.count(shutting)
	})
}

// count adds to what is counted, and says so once that makes it the end.
func (c *calls) count(n int64) {
	if c.under.Add(n) == shutting {
		c.endOnce.Do(func() { close(c.ended) }) // calls that do not get in come this way again
	}
}

// wait waits for the calls under way after shut, or for ctx.
func (c *calls) wait(ctx context.Context, plugin string) error {
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
