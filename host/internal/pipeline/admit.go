package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"
	"weak"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/plugins"
)

// admitting is the way of a call from its turn to its slot.
type admitting struct{ *core }

// maxRewrites bounds how often a call's input may be written anew.
const maxRewrites = 8

// admit runs the stages between a call's turn and its slot, on the session as
// it now is. Input that a hook or the person wrote goes through them again.
func (c admitting) admit(ctx context.Context) error {
	for range maxRewrites {
		err := c.judge(ctx)
		again, ok := errors.AsType[*gate.Rewritten](err)
		if !ok {
			return err
		}
		if err := c.rewrite(ctx, again); err != nil {
			return err
		}
	}
	return abi.Errorf(abi.CodeDenied, "the input was written anew %d times and still is not what is wanted", maxRewrites)
}

// judge finds out whether the call may start with the input it has.
func (c admitting) judge(ctx context.Context) error {
	found, err := c.resolve()
	if err != nil {
		return err
	}
	g, s, known := found.judging, found.subject, found.named
	if rehearses(&c.request) {
		s.Rehearse = (&world{judging: g}).rehearse
	} else if c.tries(c.session()) {
		s.Rehearse = (&world{judging: g}).try
	}
	g.about.Effects = c.effects() // the traits say more now
	if err := c.fits(); err != nil {
		return err
	}
	early := g.Decide(s)
	if gate.DeniedByRule(early) {
		return g.Permit(ctx, s) // neither the tool nor a hook learns of a call that a rule denies
	}
	g.Speculate(ctx, s, early)
	if err := g.waits(s); err != nil {
		return err
	}
	if c.validatesItself() {
		if s.Check, err = c.ownValidation(ctx, g.view, g.allowedFacts(known.accesses, known.facts)); err != nil {
			return err
		}
	}
	if err := g.preHooks(ctx); err != nil {
		return err
	}
	if s.Hook = c.hook; c.hooked || c.validatesItself() {
		s.Recheck() // files may have changed in the time that it took
	}
	if c.rewrittenByPerson {
		c.rewrittenByPerson = false // it is allowed as it now is, not as it may be later
		c.approvals.Allow(s.Accesses)
	}
	g.renew() // the tool and the hooks took their time
	err = g.Permit(ctx, s)
	c.admitted = admission{by: g.now.Load(), to: s}
	return err
}

// resolution is what a call touches, with its paths as they led at a time, when so many
// calls of the turn had ended.
type resolution struct {
	judging *judging
	subject *gate.Subject
	named   named
	at      time.Time
	ended   int64
}

// resolutionLasts is how old a resolution may be when a call is judged by it. A call that
// waits for nothing is judged some microseconds after it was submitted.
const resolutionLasts = time.Millisecond

// resolve finds out what the call touches now, and its traits by that. It uses what the
// scheduler was told if the call did not wait: no other call has ended since, the session is
// the same, and the time is short. The capability calls of a plugin are resolved and judged
// again. A native tool's judgement is its only one, so it must be fresh.
func (c admitting) resolve() (resolution, error) {
	r := c.resolved.Value()
	c.resolved = weak.Pointer[resolution]{}
	if r != nil && r.ended == c.turn.Ended().Load() && r.judging.view == c.session().Rules.Fresh() && time.Since(r.at) < resolutionLasts {
		return *r, nil
	}
	return preparing(c).resolve()
}

// stands finds out whether a call that was admitted may still run. While it waited for
// its slot, the rules may have become stricter. If a running call made it, another turn
// of that call may also have changed the working directory: then the paths in the input
// mean other files.
func (g *judging) stands() error {
	was := g.admitted
	if was.by == g.view {
		return nil
	}
	if was.by.Cwd != g.view.Cwd {
		return abi.Errorf(abi.CodeCancelled, "it was not begun: the working directory became %s while it waited; call it again", g.view.Cwd)
	}
	return g.Stands(was.to)
}

// rewrite begins the call anew with another input: its schema, its traits, and
// all that follows. Hooks have judged what one of them wrote, not what a person
// did.
func (c admitting) rewrite(ctx context.Context, r *gate.Rewritten) error {
	input, err := abi.Canonical(r.Input)
	if err != nil {
		return fmt.Errorf("the input that was written for the model's: %w", err)
	}
	if err := c.accept(input); err != nil {
		return c.describe(fmt.Errorf("the input that was written for the model's: %w", err))
	}
	c.approvals.Reset()
	c.dropTrial()
	c.rewrittenByPerson, c.userModified = r.ByPerson, c.userModified || r.ByPerson
	if r.ByPerson {
		c.hooked, c.hook = false, nil
	}
	c.tell.About(c.name(), c.title, c.server(), nil)
	c.traits, err = preparing(c).findTraits(ctx)
	c.show()
	c.tell.Rewritten(c.input.json)
	return err
}

// waits refuses a command of a built-in shell that begins by only waiting, such as with
// a long sleep, if the tool Sleep is offered for that. The capability would refuse it as
// well, but only after a person was asked.
func (g *judging) waits(s *gate.Subject) error {
	c := g.core
	if !tool.BuiltInFor(c.tool, abi.CapShellRun) || c.inBackground() {
		return nil
	}
	for i := range s.Commands {
		if err := shell.OnlyWaits(&s.Commands[i], c.session().Life.Backgrounds()); err != nil && newShell(g).Offers(shell.SleepTool) {
			return err
		}
	}
	return nil
}

// ownValidation asks the tool whether it finds the input valid, and for its own
// verdict.
func (c admitting) ownValidation(ctx context.Context, v *rules.View, facts []abi.Fact) (*abi.Check, error) {
	contract := c.tool.Contract()
	a, err := c.tool.Assess(ctx, plugins.Question{Input: c.input.json, Cwd: v.Cwd, Facts: facts})
	if err != nil {
		return nil, c.describe(err)
	}
	if a.Invalid != nil && contract.Validates {
		return nil, abi.Errorf(abi.CodeInvalidInput, "%s", a.Invalid.Message)
	}
	if !contract.Checks {
		return nil, nil
	}
	return a.Check, nil
}

// comeBack moves the session if its directory is gone, because a command may have removed
// it. A tool that works in the session's directory needs one.
func (c admitting) comeBack() {
	if c.tool == nil {
		return
	}
	if _, moves := c.tool.Declares(abi.CapSessionCwd); !moves {
		return
	}
	if _, native := c.tool.(*tool.Native); native {
		return // it declares everything
	}
	if from, to, moved := c.session().Rules.LeaveRemoved(); moved {
		c.remark(fmt.Sprintf("The session's directory %s is gone. The session is in %s now, and so was this call.", from, to))
	}
}

// maxDepth is how many calls may be above one that a call makes.
const maxDepth = 8

// fits refuses a call that the calls above may not make, by the traits that they were
// scheduled by.
func (c admitting) fits() error {
	if depth := c.turn.Caller().Depth; depth > maxDepth {
		return abi.Errorf(abi.CodeLimit, "%s was not run: it is made by a call that was made by a call, %d deep; at most %d are", c.use.Name, depth, maxDepth)
	}
	for _, above := range c.turn.Above() {
		if err := above.Call(c.tool.Contract(), &c.traits); err != nil {
			return err
		}
	}
	return nil
}
