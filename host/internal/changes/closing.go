package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Closing collects directories whose modes deny their owner access. They get these modes last,
// because nothing could be put into them otherwise. The zero value is empty. It is for one
// goroutine.
type Closing struct {
	list []Change
	open map[string]bool
}

// Open returns the node to put at a path first. If to is a directory whose mode denies its owner
// access, the node has that access, and Shut sets the mode of to.
func (c *Closing) Open(path string, to *Node) *Node {
	const own = 0o700
	if !to.Is(Dir) || to.Mode == 0 || to.Mode&own == own {
		return to
	}
	if c.open == nil {
		c.open = make(map[string]bool)
	}
	c.list, c.open[path] = append(c.list, Change{Path: path, After: to}), true
	open := *to
	open.Mode |= own
	return &open
}

// Has reports whether a directory still waits for its mode.
func (c *Closing) Has(path string) bool { return c.open[path] }

// Shut gives the directories their modes, inner directories first.
func (c *Closing) Shut(ctx context.Context) error {
	for _, one := range slices.Backward(c.list) {
		found, err := Find(one.Path)
		if err == nil {
			err = errors.Join(found.Put(ctx, one.After, nil, nil), found.Close())
		}
		if err != nil {
			return fmt.Errorf("setting the mode of %s: %w", one.Path, err)
		}
	}
	*c = Closing{}
	return nil
}
