package pluginset

import (
	"context"
	"fmt"
	"sync"

	"github.com/toolquay/toolquay/plugins"
)

// Options are the functions that a [Current] calls when it finds a newer set.
type Options struct {
	// Accept refuses a set that cannot take the place of the one before.
	Accept func(*plugins.Set) error
	// Tell is called after each reload, before the next one begins.
	Tell func(*Reloaded)
}

// Current is the newest set of plugins. It is safe for concurrent use.
type Current struct {
	options Options
	reloads chan struct{} // holds the one token of the reload that runs

	mu     sync.Mutex
	newest *plugins.Set
	closed error // why the set is not replaced any more
}

// New begins with a set, which Current then holds.
func New(set *plugins.Set, o Options) *Current {
	return &Current{options: o, reloads: make(chan struct{}, 1), newest: set}
}

// Newest is the newest set. Its plugins may be freed when there is a newer one.
func (c *Current) Newest() *plugins.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest
}

// Hold returns the newest set, which stays usable until it is released.
func (c *Current) Hold() *plugins.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest.Hold()
	return c.newest
}

// Close lets no newer set take the place of the newest one, which it returns. Reloads that
// find changes fail with the reason.
func (c *Current) Close(reason error) *plugins.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = reason
	return c.newest
}

// Reload looks for plugins again, and has what it finds take the place of the newest set if
// anything has changed. Several reloads take turns. With an error everything is as it was.
func (c *Current) Reload(ctx context.Context) (plugins.Changes, error) {
	select {
	case c.reloads <- struct{}{}:
		defer func() { <-c.reloads }()
	case <-ctx.Done():
		return plugins.Changes{}, fmt.Errorf("waiting for another reload of plugins: %w", context.Cause(ctx))
	}
	older := c.Hold()
	defer older.Release()
	before, known := usable(older), problems(older) // by the grants that counted until now
	newer, changes, err := older.Reload(ctx)
	if err != nil {
		return plugins.Changes{}, err
	}
	now := newer
	if changes.None() {
		newer.Release()
		now = older
	} else if err := c.replace(older, newer); err != nil {
		newer.Release()
		return plugins.Changes{}, fmt.Errorf("reloading plugins: %w", err)
	}
	r := &Reloaded{Changes: changes, Problems: newProblems(changes.Problems, known)}
	r.Tools.compare(before, usable(now))
	c.options.Tell(r)
	return changes, nil
}

// replace makes newer the set that turns begin with.
func (c *Current) replace(older, newer *plugins.Set) error {
	if err := c.options.Accept(newer); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed != nil {
		return c.closed
	}
	c.newest = newer
	older.Release()
	return nil
}
