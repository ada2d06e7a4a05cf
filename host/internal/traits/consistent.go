package traits

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Held is a call that is held to its traits.
type Held struct {
	Tool     *abi.Tool
	Traits   *Traits
	Distrust *Distrust
	Warner   Warner
}

// Warner tells the operator.
type Warner interface {
	Warn(format string, args ...any)
}

// Access refuses an access that breaks the traits by which the call was scheduled. The
// tool is not believed again in this session. ReadsOnly reports whether an access, by a
// command, changes nothing.
func (h Held) Access(a permissions.Access, readsOnly func(permissions.Access) bool) error {
	if a.Kind == permissions.AccessSession && (!h.Traits.ReadOnly || !a.ChangesBeyond()) {
		return nil
	}
	if h.Traits.ReadOnly && a.Kind != permissions.AccessRead && (a.Kind != permissions.AccessExec || !readsOnly(a)) {
		return h.notReadOnly(a)
	}
	if h.Traits.Locked && !h.Traits.Covers(a) {
		return h.unlocked(a)
	}
	return nil
}

// notReadOnly refuses a change by a call that was taken to be read-only. Where that was
// derived from a command and not claimed by the tool, the command means something else by
// now, such as by a link that leads elsewhere.
func (h Held) notReadOnly(a permissions.Access) error {
	if h.Tool.ReadOnly == abi.TraitDerived {
		return abi.Errorf(abi.CodeCancelled, "it was not done: %s was judged to read only when the call began, and is not any more; call it again", a.Target)
	}
	h.Distrust.foundWriting(h.Tool.Name)
	return h.untrue(a, "declares itself read-only", "not read-only", "read_only")
}

// unlocked is for an access outside of what the call locked. A read by a call that only
// reads passes: it does no harm, though it may see what another call has half done, this
// once.
func (h Held) unlocked(a permissions.Access) error {
	first := h.Distrust.foundTouching(h.Tool.Name)
	if h.Traits.ReadOnly && a.Kind == permissions.AccessRead {
		if first {
			h.Warner.Warn("%s reads %s too, which its input does not name; it is not taken to have locked all that it reads from now on", h.Tool.Name, a.Target)
		}
		return nil
	}
	return h.untrue(a, "declares that it touches nothing but what its input names", "a tool that must run alone", "locks")
}

// untrue refuses an access that breaks a trait.
func (h Held) untrue(a permissions.Access, says, treated, trait string) error {
	name := h.Tool.Name
	h.Warner.Warn("%s %s and asked for %s on %s; it is treated as %s from now on", name, says, a.Kind, a.Target, treated)
	return abi.Errorf(abi.CodeDenied, "%s %s and asked for %s on %s; its author must correct %s in the manifest", name, says, a.Kind, a.Target, trait)
}

// Call refuses a call that this one makes, by what this one said of itself. A call that
// runs alone may make any.
func (h Held) Call(made *abi.Tool, with *Traits) error {
	name := h.Tool.Name
	switch {
	case h.Traits.ReadOnly && !with.ReadOnly:
		return abi.Errorf(abi.CodeDenied, "%s may not call %s: it declares itself read-only, and %s is not", name, made.Name, made.Name)
	case h.Traits.Locked && !with.ReadOnly && !h.Traits.coversAll(with):
		return abi.Errorf(abi.CodeDenied, "%s may not call %s, which touches more than %s said it would", name, made.Name, name)
	case h.Traits.ConcurrencySafe && !h.Traits.Locked && !with.ConcurrencySafe:
		return abi.Errorf(abi.CodeDenied, "%s may not call %s: it runs beside other calls, and %s must run alone", name, made.Name, made.Name)
	}
	return nil
}
