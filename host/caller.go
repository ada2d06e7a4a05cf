package host

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions"
)

// Caller says who makes a call; see [SessionOptions].Caller.
type Caller = permissions.Caller

// MainAgent is the agent that works for the person directly.
const MainAgent = permissions.MainAgent

// maxCallerID bounds each id of a caller, in bytes.
const maxCallerID = 256

// checkCaller returns what is wrong with the caller of a session, or nil.
func checkCaller(c *Caller) error {
	var errs []error
	check := func(name, id string) {
		if len(id) > maxCallerID || !utf8.ValidString(id) {
			errs = append(errs, fmt.Errorf("the caller's %s must be UTF-8 of at most %d bytes", name, maxCallerID))
		}
	}
	check("agent", c.Agent)
	check("team", c.Team)
	check("chain", c.Chain)
	check("parent", c.Parent)
	if c.Depth < 0 {
		errs = append(errs, fmt.Errorf("the caller's depth is %d; it cannot be negative", c.Depth))
	}
	return errors.Join(errs...)
}
