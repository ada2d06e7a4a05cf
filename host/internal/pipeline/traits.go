package pipeline

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// findTraits resolves the contract's traits for this input. Whatever fails on
// the way counts as the unsafe answer, except a tool that says it is not
// enabled.
func (c *Call) findTraits(ctx context.Context) (traits.Traits, error) {
	contract := c.tool.Contract()
	var a abi.Assessment
	if traits.Asks(contract) {
		var err error
		a, err = c.tool.Assess(ctx, plugins.Question{Input: c.input.json, Cwd: c.session().Rules.View().Cwd})
		if err != nil {
			c.warn("the tool's traits could not be found out and count as unsafe: %v", err)
			a = abi.Assessment{}
		}
	}
	if !traits.Enabled(contract, &a) {
		return traits.Traits{}, abi.Errorf(abi.CodeDisabled, "the tool %s is switched off here", contract.Name)
	}
	known := traits.Declared(contract, &a, &c.session().Distrust)
	return known, c.stages(known.ReadOnly)
}

// settle finds out the traits that depend on what the call touches, as paths now lead.
func (c *Call) settle() {
	c.settled = c.turn.Altered().Load()
	s, known, err := newGate(c).whole()
	if err != nil { // it fails when its turn comes
		c.traits.Unlock()
		return
	}
	c.settleTraits(s, known.accesses)
}

// settleTraits computes the traits that the contract leaves to the host, from
// what the call was found to touch, and what its input names of that.
func (c *Call) settleTraits(s *gate.Subject, named []permissions.Access) {
	v := c.session().Rules.View()
	c.traits.Settle(c.tool.Contract(), traits.Settling{
		Distrust: &c.session().Distrust, Subject: s, Named: named, Cwd: really(v.Policy.Cwd()),
		NoLocks: c.session().Host.NoLocks || c.mayMove(),
		Resolve: func(touch abi.Touch) (permissions.Access, error) {
			field := abi.Field{Kind: abi.FieldPath, Effect: abi.EffectRead}
			if touch.Write {
				field.Effect = abi.EffectWrite
			}
			access, _, err := c.resolvePath(v.Cwd, field, touch.Path)
			return access, err
		},
	})
}

// held is the call as it is held to its traits.
func (c *Call) held() traits.Held {
	return traits.Held{Tool: c.tool.Contract(), Traits: &c.traits, Distrust: &c.session().Distrust, Warn: c.warn}
}

// consistent holds a call to the traits it was scheduled by, and what it makes to those
// of the calls above it.
func (g *callGate) consistent(a permissions.Access, analyse analysis) error {
	derived := g.call.tool.Contract().ReadOnly == abi.TraitDerived
	readsOnly := func(a permissions.Access) bool { return derived && analyse(a.Target).ReadOnly }
	for c := g.call; c != nil; c = c.turn.Within() {
		if err := c.held().Access(a, readsOnly); err != nil {
			return err
		}
	}
	return nil
}

// fits refuses a call that the calls above may not make, by the traits that they were
// scheduled by.
func (c *Call) fits() error {
	if c.turn.Depth() > maxDepth {
		return abi.Errorf(abi.CodeLimit, "%s was not run: it is made by a call that was made by a call, %d deep; at most %d are", c.use.Name, c.turn.Depth(), maxDepth)
	}
	for above := c.turn.Within(); above != nil; above = above.turn.Within() {
		if err := above.held().Call(c.tool.Contract(), &c.traits); err != nil {
			return err
		}
	}
	return nil
}
