package plugins

import (
	"context"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// Calls counts the calls under way in an [Instance], so that its Close can wait
// for them. An Instance holds one by value; the zero value is ready for use.
type Calls struct {
	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// Enter counts a call in, unless the instance is being closed. Each Enter that
// returns nil needs a Leave.
func (c *Calls) Enter(plugin string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return abi.Errorf(abi.CodeCancelled, "plugin %s is being unloaded", plugin)
	}
	c.calls.Add(1)
	return nil
}

// Leave counts a call out.
func (c *Calls) Leave() { c.calls.Done() }

// Drain lets no more calls in and waits for those under way, or for ctx. It
// reports true to its first caller, whose task it is to free the instance.
func (c *Calls) Drain(ctx context.Context, plugin string) (first bool, err error) {
	c.mu.Lock()
	first = !c.closed
	c.closed = true
	c.mu.Unlock()
	if !first {
		return false, nil
	}
	ended := make(chan struct{})
	go func() {
		c.calls.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true, nil
	case <-ctx.Done():
		return true, abi.Errorf(abi.CodeTimeout, "plugin %s still has calls under way: %w", plugin, context.Cause(ctx))
	}
}
