package pipeline

import (
	"context"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/traits"
)

// preparing finds out what can be known of a call before its turn comes.
type preparing struct{ *core }

// prepare does what can be done before a call's turn comes: its tool, its input, its traits.
func (c preparing) prepare(ctx context.Context) error {
	if err := c.turn.Claim(c.use.ID); err != nil {
		return err
	}
	found, err := c.turn.Catalog().Find(c.use.Name, c.turn.ByModel())
	if err != nil {
		c.idle = true
		return err
	}
	c.tool = found
	c.tell.About(c.name(), "", tool.Server{}, nil)
	if err := c.tool.Available(); err != nil {
		return err
	}
	written := c.use.Input
	if len(written) == 0 {
		written = json.RawMessage("{}")
	}
	if written, err = abi.Canonical(written); err != nil {
		return err
	}
	if written, err = c.tool.Contract().Renamed(c.use.Name, written); err != nil {
		return c.describe(err)
	}
	c.input = newInput(written) // also what is refused is told
	if err := c.accept(written); err != nil {
		return c.describe(c.turn.Catalog().Unloaded(c.tool.Contract(), err))
	}
	c.tell.About(c.name(), c.title, c.server(), nil)
	c.traits, err = c.findTraits(ctx)
	c.show()
	if err != nil || !traits.Settles(c.tool.Contract()) {
		return err
	}
	c.settle()
	return nil
}
