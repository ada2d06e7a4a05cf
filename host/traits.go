package host

import (
	"context"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// traits are what is known of one call before it runs. The zero value is the
// unsafe answer to every question.
type traits struct {
	readOnly        bool
	concurrencySafe bool
	destructive     bool
	// locked says that locks are all that the call touches; see locks.go.
	locked bool
	locks  []scheduler.Lock
	// links are the other names under which it reaches what it touches.
	links []scheduler.Lock
	// touches are what the guest says that the call touches.
	touches []abi.Touch
}

// findTraits resolves the contract's traits for this input. Whatever fails on
// the way counts as the unsafe answer, except a tool that says it is not
// enabled.
func (c *call) findTraits(ctx context.Context) (traits, error) {
	contract := c.tool.contract()
	var a abi.Assessment
	if asks(contract) {
		var err error
		a, err = c.tool.assess(ctx, plugins.Question{Input: c.input.json, Cwd: c.session().view().cwd})
		if err != nil {
			c.tell.warn("the tool's traits could not be found out and count as unsafe: %v", err)
			a = abi.Assessment{}
		}
	}
	if contract.Enabled == abi.TraitFalse || contract.Enabled == abi.TraitInput && !isTrue(a.Enabled) {
		return traits{}, abi.Errorf(abi.CodeDisabled, "the tool %s is switched off here", contract.Name)
	}
	known := traits{
		readOnly:        resolve(contract.ReadOnly, a.ReadOnly),
		concurrencySafe: resolve(contract.ConcurrencySafe, a.ConcurrencySafe),
		destructive:     resolve(contract.Destructive, a.Destructive),
		touches:         a.Touches,
	}
	if c.session().demoted(contract.Name) {
		known.readOnly, known.concurrencySafe = false, false
	}
	return known, c.stages(known)
}

// asks reports whether any trait is for the guest to answer.
func asks(t *abi.Tool) bool {
	return t.Locks == abi.LocksInput ||
		slices.Contains([]abi.Trait{t.ReadOnly, t.ConcurrencySafe, t.Destructive, t.Enabled}, abi.TraitInput)
}

// settle finds out the traits that depend on what the call touches, as paths now lead.
func (c *call) settle() {
	c.settled = c.turn.altered.Load()
	s, known, err := newGate(c).whole()
	if err != nil { // it fails when its turn comes
		c.traits.locked, c.traits.locks, c.traits.links = false, nil, nil
		return
	}
	c.settleTraits(s, known.accesses)
}

// settles reports whether anything of the traits is found out with what the call
// touches.
func settles(t *abi.Tool) bool { return t.Locks != "" || derives(t) }

// derives reports whether any trait is for the host to compute.
func derives(t *abi.Tool) bool {
	return slices.Contains([]abi.Trait{t.ReadOnly, t.ConcurrencySafe, t.Destructive}, abi.TraitDerived)
}

func resolve(declared abi.Trait, answer *bool) bool {
	switch declared {
	case abi.TraitTrue:
		return true
	case abi.TraitInput:
		return isTrue(answer)
	}
	// Derived traits are found out with the call's accesses; until then the answer
	// is the unsafe one.
	return false
}

func isTrue(b *bool) bool { return b != nil && *b }
