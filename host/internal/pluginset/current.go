package pluginset

import (
	"context"
	"fmt"
	"sync"

	"github.com/toolquay/toolquay/host/internal/skills"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/plugins"
)

// Current is the newest set of tools. It is safe for concurrent use.
type Current struct {
	tell    func(*Reloaded)
	reloads chan struct{} // holds the one token of the change that is made

	mu     sync.Mutex
	newest tool.Set
	closed error // why the set is not replaced any more
}

// New begins with a set, whose plugins Current then holds. tell is called after each change,
// before the next one begins.
func New(set tool.Set, tell func(*Reloaded)) *Current {
	return &Current{tell: tell, reloads: make(chan struct{}, 1), newest: set}
}

// Newest is the newest set. Its plugins may be freed when there is a newer one.
func (c *Current) Newest() tool.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest
}

// Hold returns the newest set, which stays usable until it is released.
func (c *Current) Hold() tool.Set {
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
	return c.newest.Set
}

// SetNatives has other tools of the embedder take the place of those there are, unless one
// has the name of a built-in tool.
func (c *Current) SetNatives(natives *tool.Natives) error {
	c.reloads <- struct{}{}
	defer func() { <-c.reloads }()
	before := c.Newest()
	if err := natives.Clash(before.Set); err != nil {
		return err
	}
	c.mu.Lock()
	if c.closed != nil {
		defer c.mu.Unlock()
		return c.closed
	}
	c.newest.Natives = natives
	c.mu.Unlock()
	r := &Reloaded{}
	r.Tools.compareNatives(before.Natives, natives)
	c.tell(r)
	return nil
}

// SetSkills has other skills take the place of those there are, and tells that the tool by which
// models load them has changed, came or went, if models are told something else of them. again says
// that they were only looked for again: where the same was found, those there are stay, and calls
// under way still have the newest tools.
func (c *Current) SetSkills(newer *skills.Set, again bool) {
	c.reloads <- struct{}{}
	defer func() { <-c.reloads }()
	c.mu.Lock()
	before := c.newest
	if c.closed != nil || again && skills.Equal(before.Skills, newer) {
		c.mu.Unlock()
		return
	}
	c.newest.Skills = newer
	c.mu.Unlock()
	r := &Reloaded{}
	r.Tools.compareSkills(before, newer)
	c.tell(r)
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
	older := c.Hold().Set
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
	c.tell(r)
	return changes, nil
}

// replace makes newer the set that turns begin with.
func (c *Current) replace(older, newer *plugins.Set) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.newest.Natives.Clash(newer); err != nil {
		return err
	}
	if c.closed != nil {
		return c.closed
	}
	c.newest.Set = newer
	older.Release()
	return nil
}
