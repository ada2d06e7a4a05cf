package pipeline

import (
	"context"
	"time"
	"weak"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/display"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// findTraits resolves the contract's traits for this input. Whatever fails on
// the way counts as the unsafe answer, except a tool that says it is not
// enabled.
func (c preparing) findTraits(ctx context.Context) (traits.Traits, error) {
	contract := c.tool.Contract()
	var a abi.Assessment
	if traits.Asks(contract) || contract.Renders {
		var err error
		a, err = c.tool.Assess(ctx, plugins.Question{Input: c.input.json, Cwd: c.session().Rules.View().Cwd})
		if err != nil {
			c.Warn("the tool's traits could not be found out and count as unsafe: %v", err)
			a = abi.Assessment{}
		}
	}
	if err := display.Check(a.Lines); err != nil {
		c.Warn("the tool words its call badly, and the manifest's words are shown: %v", err)
	}
	c.said = a
	if !traits.Enabled(contract, &a) {
		return traits.Traits{}, abi.Errorf(abi.CodeDisabled, "the tool %s is switched off here", contract.Name)
	}
	known := traits.Declared(contract, &a, &c.session().Distrust)
	return known, c.stages(known.ReadOnly)
}

// settle finds out the traits that depend on what the call touches, as paths now lead.
func (c preparing) settle() {
	c.settled, c.resolved = c.turn.Altered().Load(), weak.Pointer[resolution]{}
	ended, now := c.turn.Ended().Load(), time.Now()
	r, err := c.resolve()
	if err != nil { // it fails when its turn comes
		c.traits.Unlock()
		return
	}
	r.ended, r.at = ended, now
	c.resolved = weak.Make(&r)
}

// resolve finds out what the call touches, and the traits that the contract leaves to the
// host.
func (c preparing) resolve() (resolution, error) {
	g := newJudging(c.core)
	s, known, err := g.whole()
	if err != nil {
		return resolution{}, err
	}
	c.settleTraits(g, s, known.accesses)
	return resolution{judging: g, subject: s, named: known}, nil
}

// settleTraits computes the traits that the contract leaves to the host, from
// what the call was found to touch, and what its input names of that.
func (c preparing) settleTraits(g *judging, s *gate.Subject, named []permissions.Access) {
	v, contract := c.session().Rules.View(), c.tool.Contract()
	by := traits.Settling{
		Distrust: &c.session().Distrust, Subject: s, Named: named, Cwd: really(v.Policy.Cwd()),
		NoLocks: c.session().Host.NoLocks.Load() || c.mayMove(),
		Reads:   func(known *permissions.Command) bool { return g.readsOnly(v.Policy, s.Operation, known) },
	}
	if contract.Locks == abi.LocksInput {
		by.Resolve = func(touch abi.Touch) (permissions.Access, error) { return c.touched(v.Cwd, touch) }
	}
	c.traits.Settle(contract, by)
}

// touched resolves what the guest says that the call touches.
func (c preparing) touched(cwd string, touch abi.Touch) (permissions.Access, error) {
	field := abi.Field{Kind: abi.FieldPath, Effect: abi.EffectRead}
	if touch.Write {
		field.Effect = abi.EffectWrite
	}
	access, _, err := c.resolvePath(cwd, field, touch.Path)
	return access, err
}

// stages refuses, in a session whose writes are staged, a call that may change the disk itself,
// before anybody is asked about it: a call of the embedder's own tool, a command outside the
// sandbox and, if the changes of commands cannot be staged here, any command. Commands that only
// read are refused too: they would see files without what is staged.
func (c preparing) stages(readOnly bool) error {
	if !c.session().Stage {
		return nil
	}
	err := BarredByStage(c.tool, readOnly, c.session().Unstaged)
	if err == nil && runsCommands(c.tool) {
		err = c.staysInside()
	}
	return err
}
