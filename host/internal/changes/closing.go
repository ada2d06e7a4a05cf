package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Closing are directories that get their modes last, as their owner could put nothing in them before. The zero value
// has none. It is for one goroutine.
type Closing struct {
	list []Change
	open map[string]bool
}

// Open is what is to become of a path for now: a directory that is to be closed is open to its owner until Shut.
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

// Has reports whether a directory is open yet.
func (c *Closing) Has(path string) bool { return c.open[path] }

// Shut gives them their modes, from below.
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
