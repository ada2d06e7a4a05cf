package traits

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/scheduler"
)

// Traits are what is known of one call before it runs. The zero value is the unsafe
// answer to every question.
type Traits struct {
	ReadOnly        bool
	ConcurrencySafe bool
	Destructive     bool
	// Locked says that Locks are all that the call touches; Links are the other names
	// under which it reaches that.
	Locked bool
	Locks  []scheduler.Lock
	Links  []scheduler.Lock
	// Touches are what the guest says that the call touches.
	Touches []abi.Touch
}

// Declared are the traits of a call by its tool's contract and, for those that are asked
// of the guest, by the guest's assessment. Derived ones are unsafe until [Traits.Settle].
func Declared(t *abi.Tool, a *abi.Assessment, distrust *Distrust) Traits {
	known := Traits{
		ReadOnly:        resolve(t.ReadOnly, a.ReadOnly),
		ConcurrencySafe: resolve(t.ConcurrencySafe, a.ConcurrencySafe),
		Destructive:     resolve(t.Destructive, a.Destructive),
		Touches:         a.Touches,
	}
	if distrust.writes(t.Name) {
		known.ReadOnly, known.ConcurrencySafe = false, false
	}
	return known
}

// Enabled reports whether a tool can be called with an input, where its contract leaves that
// to the guest's assessment.
func Enabled(t *abi.Tool, a *abi.Assessment) bool {
	return t.Enabled != abi.TraitInput || isTrue(a.Enabled)
}

// Asks reports whether any trait of a tool is for the guest to answer.
func Asks(t *abi.Tool) bool {
	return t.Locks == abi.LocksInput ||
		slices.Contains([]abi.Trait{t.ReadOnly, t.ConcurrencySafe, t.Destructive, t.Enabled}, abi.TraitInput)
}

// Settles reports whether any of a tool's traits depends on what a call touches.
func Settles(t *abi.Tool) bool {
	return t.Locks != "" || slices.Contains([]abi.Trait{t.ReadOnly, t.ConcurrencySafe, t.Destructive}, abi.TraitDerived)
}

func resolve(declared abi.Trait, answer *bool) bool {
	switch declared {
	case abi.TraitTrue:
		return true
	case abi.TraitInput:
		return isTrue(answer)
	}
	return false
}

func isTrue(b *bool) bool { return b != nil && *b }

// Settling is what [Traits.Settle] needs beyond the tool's contract.
type Settling struct {
	Distrust *Distrust
	// Subject is everything that the call was found to touch, and Named what its input
	// names of that.
	Subject *gate.Subject
	Named   []permissions.Access
	// Reads reports whether a command only reads.
	Reads func(*permissions.Command) bool
	// Cwd is the session's working directory, as it really lies.
	Cwd string
	// NoLocks says that the call has no locks: it may change the working directory, or
	// calls are scheduled without.
	NoLocks bool
	// Resolve finds what a path leads to that the guest says the call touches.
	Resolve func(abi.Touch) (permissions.Access, error)
}

// Settle computes the traits that the contract leaves to the host, from what the call was
// found to touch.
func (t *Traits) Settle(contract *abi.Tool, by Settling) {
	t.Unlock()
	if by.Distrust.writes(contract.Name) {
		t.ReadOnly, t.ConcurrencySafe = false, false
		return
	}
	t.settleLocks(contract, by)
	readOnly := by.Subject.ReadOnly(by.Reads)
	if contract.ReadOnly == abi.TraitDerived {
		t.ReadOnly = readOnly
	}
	if contract.ConcurrencySafe == abi.TraitDerived {
		t.ConcurrencySafe = readOnly && by.Subject.StaysIn(by.Cwd)
	}
	if contract.Destructive == abi.TraitDerived {
		t.Destructive = !readOnly
	}
}

// Scheduled are the traits as the scheduler takes them. Group is the plugin of the tool.
func (t *Traits) Scheduled(contract *abi.Tool, group string) scheduler.Traits {
	out := scheduler.Traits{
		Safe: t.ConcurrencySafe, Locked: t.Locked, Locks: t.Locks,
		Cascade: contract.Cascade, Block: contract.Interrupt == abi.InterruptBlock, Group: group,
	}
	if len(t.Links) > 0 {
		out.Locks = slices.Concat(t.Locks, t.Links)
	}
	return out
}

// Alone reports whether a call with these traits runs alone.
func (t *Traits) Alone() bool { return !t.ConcurrencySafe && !t.Locked }
