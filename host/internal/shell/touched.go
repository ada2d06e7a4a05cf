package shell

import (
	"context"
	"slices"

	"github.com/toolquay/toolquay/abi"
)

// tells reports whether the sandbox reports the command's changes in advance: to the history or, if the changes
// are staged, to a [mover].
func (c *coldChild) tells() bool {
	return (c.scope.History != nil || c.held.Staged != nil) && c.held.sandboxed && !c.held.readOnly && !c.held.lasting && c.setup.Sandbox.Tells()
}

// places returns the directories in which the command may change files of the user.
func (h *confinement) places() []string { return slices.Concat(h.Working, h.Repositories, h.Opened) }

// tell begins the reports. At each change the command waits until its history or mover has handled the report.
func (c *coldChild) tell() error {
	switch {
	case !c.tells():
		return nil
	case c.held.Staged != nil:
		if err := c.box.Tell(new(mover)); err != nil {
			return abi.Errorf(abi.CodeIO, "the command was not run, because its changes cannot be watched: %w", err)
		}
		return nil
	}
	c.changed = c.scope.History.Watch(c.scope.Call, c.held.places())
	if err := c.box.Tell(c.changed); err != nil {
		c.changed.End(context.Background()) // nothing was changed
		c.changed = nil
		return abi.Errorf(abi.CodeIO, "the command was not run, because the history cannot watch its changes: %w", err)
	}
	return nil
}

// kept ends the reports to the history. It returns a sentence on what the history does not keep.
func (c *coldChild) kept() string {
	ctx := context.Background() // the command is over, whatever became of its call
	switch {
	case c.changed != nil:
		return c.changed.End(ctx)
	case c.scope.History == nil || c.held.readOnly || c.Process == nil || c.known.ReadOnly:
		return ""
	}
	why := "it ran without a sandbox"
	switch {
	case c.held.sandboxed:
		why = "this kind of sandbox does not report changes"
	case c.held.partial:
		why = "it ran in a partial sandbox, which does not report changes"
	}
	if err := c.scope.History.Unknown(ctx, c.scope.Call, why); err != nil {
		c.scope.Call.Logger(c.setup.Logger).Warn("it could not be recorded in the history that a command's changes are not known", "error", err)
	}
	return ""
}
