package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
)

// refusedChange is a change of the session that a tool asked for and did not get.
type refusedChange struct {
	change abi.Change
	err    error
}

// maxRefusal bounds what the model is told of a change that was refused, in bytes.
const maxRefusal = 500

// refuseChanges takes out of a result the changes that its tool may not make, and says so
// behind what the tool answered. Whether a change that it may make succeeds is found out
// when it is made; a safe call's result may have left by then, so it is tried here.
func (c finishing) refuseChanges(r *abi.ToolResult) {
	kept := r.Changes[:0:0]
	for _, change := range r.Changes {
		path, err := c.mayChange(change)
		if err == nil && c.traits.ConcurrencySafe {
			_, err = c.session().Rules.View().Destination(path)
		}
		if err == nil {
			kept = append(kept, change)
			continue
		}
		c.refused = append(c.refused, refusedChange{change, err})
	}
	if len(kept) == len(r.Changes) {
		return
	}
	r.Changes = kept
	text := fmt.Sprintf("%d change(s) of the session that the tool asked for were refused: %s",
		len(c.refused), visible.Short(c.refused[0].err.Error(), maxRefusal))
	r.Content = append(slices.Clip(r.Content), abi.TextBlock(text))
}

// mayChange returns the directory that a change moves the session to, or why the call may
// not make that change.
func (c finishing) mayChange(change abi.Change) (path string, err error) {
	if change.Kind != abi.ChangeCwd {
		return "", abi.Errorf(abi.CodeUnsupported, "no change of a session is called %s", visible.Name(string(change.Kind)))
	}
	if c.tool == nil {
		return "", errors.New("no tool asked for it")
	}
	if c.traits.Locked {
		return "", abi.Errorf(abi.CodeDenied, "%s may not change the working directory: it declares that it touches nothing but what its input names", c.tool.Contract().Name)
	}
	if _, ok := c.tool.Declares(abi.CapSessionCwd); !ok {
		return "", abi.Errorf(abi.CodeUndeclared, "%s may not change the working directory: its manifest does not declare %s", c.tool.Contract().Name, abi.CapSessionCwd)
	}
	if err := json.Unmarshal(change.Value, &path); err != nil {
		return "", abi.Errorf(abi.CodeProtocol, "the new working directory is not a JSON string")
	}
	return path, nil
}

// applyChanges makes the changes that the call asked for. Those that fail are taken out of
// its result, and told by an event and the log, as those that were refused before are.
func (c finishing) applyChanges() {
	kept := c.result.Changes[:0:0]
	for _, change := range c.result.Changes {
		path, err := c.mayChange(change)
		if err == nil {
			err = c.session().Rules.Chdir(path)
		}
		if err != nil {
			c.refused = append(c.refused, refusedChange{change, err})
			continue
		}
		kept = append(kept, change)
		c.tell.Changed(&change, nil)
	}
	alone := c.traits.Alone()
	if alone && len(kept) < len(c.result.Changes) { // of the others the result may have left
		c.result.Changes = kept
	}
	for _, r := range c.refused {
		c.Logger().Info("a change of the session was refused", "error", r.err)
		c.tell.Changed(&r.change, r.err)
	}
}
