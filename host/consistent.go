package host

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// consistent holds a call to the traits it was scheduled by, and what it makes to
// those of the calls above it. A tool that breaks them is not believed again in this
// session.
func (g *callGate) consistent(a permissions.Access, analyse analysis) error {
	for c := g.call; c != nil; c = c.turn.within {
		if a.Kind == permissions.AccessSession {
			return nil
		}
		if c.traits.readOnly && a.Kind != permissions.AccessRead && !g.onlyLooks(a, analyse) {
			return c.notReadOnly(a)
		}
		if c.traits.locked && !c.covers(a) {
			if err := c.unlocked(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// notReadOnly refuses a change by a call that was taken to be read-only. Where that was
// not its tool's word but found out from a command, the command means something else by
// now, such as by a link that leads elsewhere.
func (c *call) notReadOnly(a permissions.Access) error {
	if c.tool.contract().ReadOnly == abi.TraitDerived {
		return abi.Errorf(abi.CodeCancelled, "it was not done: %s was judged to read only when the call began, and is not any more; call it again", a.Target)
	}
	c.session().demote(c.name())
	return c.untrue(a, "declares itself read-only", "not read-only", "read_only")
}

// onlyLooks reports whether a command of a tool whose commands are judged one by one
// changes nothing.
func (g *callGate) onlyLooks(a permissions.Access, analyse analysis) bool {
	return a.Kind == permissions.AccessExec && g.call.tool.contract().ReadOnly == abi.TraitDerived && analyse(a.Target).ReadOnly
}

// unlocked is for an access that lies outside what the call locked. A read of a call
// that only reads is let pass: it hurts nobody, though it may see what another call
// has half done, this once.
func (c *call) unlocked(a permissions.Access) error {
	first := c.session().distrustLocks(c.name())
	if c.traits.readOnly && a.Kind == permissions.AccessRead {
		if first {
			c.tell.warn("%s reads %s too, which its input does not name; it is not taken to have locked all that it reads from now on", c.name(), a.Target)
		}
		return nil
	}
	return c.untrue(a, "declares that it touches nothing but what its input names", "a tool that must run alone", "locks")
}

// untrue refuses an access that breaks a trait.
func (c *call) untrue(a permissions.Access, says, treated, trait string) error {
	name := c.name()
	c.tell.warn("%s %s and asked for %s on %s; it is treated as %s from now on", name, says, a.Kind, a.Target, treated)
	return abi.Errorf(abi.CodeDenied, "%s %s and asked for %s on %s; its author must correct %s in the manifest", name, says, a.Kind, a.Target, trait)
}
