package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/shell"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// maxRewrites bounds how often a call's input may be written anew.
const maxRewrites = 8

// admit runs the stages between a call's turn and its slot, on the session as
// it now is. Input that a hook or the person wrote goes through them again.
func (c *Call) admit(ctx context.Context) error {
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
func (c *Call) judge(ctx context.Context) error {
	g := newGate(c)
	s, known, err := g.whole()
	if err != nil {
		return err
	}
	c.settleTraits(s, known.accesses)
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
	if err := c.preHooks(ctx, g); err != nil {
		return err
	}
	if s.Hook = c.hook; c.hooked {
		s.Recheck() // hooks may have changed files
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

// admission is what a call was let in by, and to do.
type admission struct {
	by *rules.View
	to *gate.Subject
}

// stands finds out whether a call that was admitted may still run. It may have waited
// for its slot, the rules have been tightened, and another turn that the same call
// makes have moved the session, where the paths of its input are others.
func (g *callGate) stands() error {
	was := g.call.admitted
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
func (c *Call) rewrite(ctx context.Context, r *gate.Rewritten) error {
	input, err := abi.Canonical(r.Input)
	if err != nil {
		return fmt.Errorf("the input that was written for the model's: %w", err)
	}
	if err := c.accept(input); err != nil {
		return c.describe(fmt.Errorf("the input that was written for the model's: %w", err))
	}
	c.tell.About(c.name(), c.title)
	c.approvals.Reset()
	c.rewrittenByPerson = r.ByPerson
	if r.ByPerson {
		c.hooked, c.hook = false, nil
	}
	c.tell.Rewritten(c.input.json)
	c.traits, err = c.findTraits(ctx)
	return err
}

// waits refuses a command of a built-in shell's that would be refused once it was
// allowed, for it only waits: nobody is to be asked about that.
func (g *callGate) waits(s *gate.Subject) error {
	c := g.call
	if _, runs := c.tool.Declares(abi.CapShellRun); !runs || !tool.BuiltIn(c.tool) || c.inBackground() {
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
func (c *Call) ownValidation(ctx context.Context, v *rules.View, facts []abi.Fact) (*abi.Check, error) {
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

// hookInput is what hooks are told of the call.
func (g *callGate) hookInput() hooks.Input {
	c, v, contract := g.call, g.view, g.call.tool.Contract()
	return hooks.Input{
		SessionID: c.session().ID, Cwd: v.Cwd, Mode: v.Policy.Mode(),
		Tool: contract.Name, Aliases: contract.Aliases, ToolInput: c.input.json, ToolUseID: c.use.ID,
		Plugin: c.tool.Source().Plugin, Binding: g.about.Binding(),
	}
}

// preHooks runs the hooks before the call, once.
func (c *Call) preHooks(ctx context.Context, g *callGate) error {
	contract, set := c.tool.Contract(), g.view.Settings.Hooks
	if c.hooked || !set.For(hooks.PreToolUse, contract.Name, contract.Aliases) {
		return nil
	}
	o := set.PreToolUse(ctx, g.hookInput())
	if ctx.Err() != nil {
		return gate.Cancelled(ctx)
	}
	c.hooked, c.hook = true, o.Answer()
	c.heed(&o)
	if o.UpdatedInput != nil && o.Verdict != permissions.Deny {
		return &gate.Rewritten{Input: o.UpdatedInput}
	}
	return nil
}

// heed tells of the hooks that ran, and keeps what they want the model told.
func (c *Call) heed(o *hooks.Outcome) {
	c.tell.Hooks(o)
	c.notes = append(c.notes, o.Contexts...)
	c.notes = append(c.notes, o.Feedback...)
}

// postHooks runs the hooks after the call, which ended with a result or an error,
// and returns the result as they want it shown.
func (c *Call) postHooks(ctx context.Context, g *callGate, result abi.ToolResult, failure error) abi.ToolResult {
	v, contract, event := g.view, c.tool.Contract(), hooks.PostToolUse
	if failure != nil {
		event = hooks.PostToolUseFailure
	}
	if !v.Settings.Hooks.For(event, contract.Name, contract.Aliases) {
		return result
	}
	in, tell := g.hookInput(), v.Settings.Hooks.PostToolUse
	if failure == nil {
		in.Result = &result
	} else {
		in.Err, tell = failure, v.Settings.Hooks.PostToolUseFailure
	}
	if ctx.Err() != nil {
		// Nobody waits for a call that is over; the hooks are told all the same.
		c.session().Life.After(ctx, func(ctx context.Context) { tell(ctx, in) })
		return result
	}
	o := tell(ctx, in)
	c.heed(&o)
	rewritten := o.Rewrite(result)
	c.files.Answered(rewritten.Content, result.Content)
	c.letGo(slices.DeleteFunc(slices.Clone(result.Content), func(b abi.Block) bool {
		return b.Spilled == nil || slices.ContainsFunc(rewritten.Content, func(kept abi.Block) bool { return kept.Spilled == b.Spilled })
	}))
	return rewritten
}

// addNotes puts what hooks want the model told behind what the tool said.
func (c *Call) addNotes(r *abi.ToolResult) {
	for _, text := range c.notes {
		doc, err := json.Marshal(text)
		if err != nil {
			continue
		}
		r.Content = append(slices.Clip(r.Content), abi.TextBlock("A hook says: "+string(doc)))
	}
	c.notes = nil
}

// hookGrant is what hooks said of the call as it counts for its capability calls:
// what they allowed. What they asked about was answered before it started.
func (c *Call) hookGrant() *permissions.HookAnswer {
	if c.hook == nil || c.hook.Verdict != permissions.Allow {
		return nil
	}
	return c.hook
}
