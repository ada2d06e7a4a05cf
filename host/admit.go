package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability/shell"
	"github.com/toolquay/toolquay/host/hooks"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// maxRewrites bounds how often a call's input may be written anew.
const maxRewrites = 8

// admit runs the stages between a call's turn and its slot, on the session as
// it now is. Input that a hook or the person wrote goes through them again.
func (c *call) admit(ctx context.Context) error {
	for range maxRewrites {
		err := c.judge(ctx)
		again, ok := errors.AsType[*rewritten](err)
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
func (c *call) judge(ctx context.Context) error {
	g := newGate(c)
	m, known, err := g.matter()
	if err != nil {
		return err
	}
	c.settleTraits(m, known.accesses)
	if err := c.fits(); err != nil {
		return err
	}
	early := g.decide(m)
	if early.Verdict == permissions.Deny && !early.Headless {
		return g.permit(ctx, m) // a tool, and a hook, learns nothing of a call that a rule denies
	}
	if early.Need&permissions.NeedJudge != 0 && c.session().judge != nil {
		g.speculate(ctx, m)
	}
	if err := g.waits(m); err != nil {
		return err
	}
	if c.validatesItself() {
		if m.check, err = c.ownValidation(ctx, g.view, g.allowedFacts(known.accesses, known.facts)); err != nil {
			return err
		}
	}
	if err := c.preHooks(ctx, g); err != nil {
		return err
	}
	m.hook = c.hook
	if c.rewrittenByPerson {
		c.rewrittenByPerson = false // it is allowed as it now is, not as it may be later
		c.approved.add(m.accesses)
	}
	g.renew() // the tool and the hooks took their time
	err = g.permit(ctx, m)
	c.admitted = admission{by: g.now.Load(), to: m}
	return err
}

// admission is what a call was let in by, and to do.
type admission struct {
	by *view
	to *matter
}

// stands finds out whether a call that was admitted may still run. It may have waited
// for its slot, the rules have been tightened, and another turn that the same call
// makes have moved the session, where the paths of its input are others.
func (g *gate) stands() error {
	was := g.call.admitted
	if was.by == g.view {
		return nil
	}
	if was.by.cwd != g.view.cwd {
		return abi.Errorf(abi.CodeCancelled, "it was not begun: the working directory became %s while it waited; call it again", g.view.cwd)
	}
	d := g.decide(was.to)
	if d.Verdict == permissions.Allow {
		return nil
	}
	if err := g.record(was.to, &d, ""); err != nil {
		return err
	}
	err := refusal(d)
	if d.Verdict == permissions.Ask {
		was.to.decided = false // the question that this one would be is not put
		g.unanswered(was.to, err)
	}
	return err
}

// rewrite begins the call anew with another input: its schema, its traits, and
// all that follows. Hooks have judged what one of them wrote, not what a person
// did.
func (c *call) rewrite(ctx context.Context, r *rewritten) error {
	input, err := abi.Canonical(r.input)
	if err != nil {
		return fmt.Errorf("the input that was written for the model's: %w", err)
	}
	if input, err = c.tool.validate(input); err != nil {
		return c.describe(fmt.Errorf("the input that was written for the model's: %w", err))
	}
	c.input, c.title = input, titleOf(c.tool.contract(), input)
	c.approved.drop()
	c.rewrittenByPerson = r.byPerson
	if r.byPerson {
		c.hooked, c.hook = false, nil
	}
	c.event(Event{Kind: EventRewritten, Input: input})
	c.traits, err = c.findTraits(ctx)
	return err
}

// waits refuses a command of a built-in shell's that would be refused once it was
// allowed, for it only waits: nobody is to be asked about that.
func (g *gate) waits(m *matter) error {
	c := g.call
	if _, runs := c.tool.declares(abi.CapShellRun); !runs || !builtIn(c.tool) || c.inBackground() {
		return nil
	}
	for i := range m.commands {
		if err := shell.OnlyWaits(&m.commands[i], c.session().backgrounds()); err != nil && newCommander(g).Offers(shell.SleepTool) {
			return err
		}
	}
	return nil
}

// inBackground reports whether the input asks to run a command in the background.
func (c *call) inBackground() bool {
	var input map[string]json.RawMessage
	return json.Unmarshal(c.input, &input) == nil && string(input[backgroundField]) == "true"
}

// validatesItself reports whether the tool has a say in whether it is called.
func (c *call) validatesItself() bool {
	contract := c.tool.contract()
	return contract.Validates || contract.Checks
}

// ownValidation asks the tool whether it finds the input valid, and for its own
// verdict.
func (c *call) ownValidation(ctx context.Context, v *view, facts []abi.Fact) (*abi.Check, error) {
	contract := c.tool.contract()
	a, err := c.tool.assess(ctx, plugins.Question{Input: c.input, Cwd: v.cwd, Facts: facts})
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
func (c *call) hookInput(v *view) hooks.Input {
	contract := c.tool.contract()
	return hooks.Input{
		SessionID: c.session().id, Cwd: v.cwd, Mode: v.policy.Mode(),
		Tool: contract.Name, Aliases: contract.Aliases, ToolInput: c.input, ToolUseID: c.use.ID,
		Plugin: c.tool.source().plugin, Binding: c.binding(),
	}
}

// preHooks runs the hooks before the call, once.
func (c *call) preHooks(ctx context.Context, g *gate) error {
	contract, set := c.tool.contract(), g.view.hooks
	if c.hooked || !set.For(hooks.PreToolUse, contract.Name, contract.Aliases) {
		return nil
	}
	o := set.PreToolUse(ctx, c.hookInput(g.view))
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	c.hooked, c.hook = true, o.Answer()
	c.heed(&o)
	if o.UpdatedInput != nil && o.Verdict != permissions.Deny {
		return &rewritten{input: o.UpdatedInput}
	}
	return nil
}

// heed tells of the hooks that ran, and keeps what they want the model told.
func (c *call) heed(o *hooks.Outcome) {
	for i := range o.Records {
		c.event(Event{Kind: EventHook, Hook: &o.Records[i], Err: o.Records[i].Err, Elapsed: c.elapsed()})
	}
	for _, text := range o.Messages {
		c.event(Event{Kind: EventMessage, Reason: text})
	}
	c.notes = append(c.notes, o.Contexts...)
	c.notes = append(c.notes, o.Feedback...)
	if o.Stop {
		c.event(Event{Kind: EventStop, Reason: o.StopReason})
	}
}

// postHooks runs the hooks after the call, which ended with a result or an error,
// and returns the result as they want it shown.
func (c *call) postHooks(ctx context.Context, v *view, result abi.ToolResult, failure error) abi.ToolResult {
	contract, event := c.tool.contract(), hooks.PostToolUse
	if failure != nil {
		event = hooks.PostToolUseFailure
	}
	if !v.hooks.For(event, contract.Name, contract.Aliases) {
		return result
	}
	in, tell := c.hookInput(v), v.hooks.PostToolUse
	if failure == nil {
		in.Result = &result
	} else {
		in.Err, tell = failure, v.hooks.PostToolUseFailure
	}
	if ctx.Err() != nil {
		// Nobody waits for a call that is over; the hooks are told all the same.
		c.session().behind(ctx, func(ctx context.Context) { tell(ctx, in) })
		return result
	}
	o := tell(ctx, in)
	c.heed(&o)
	rewritten := o.Rewrite(result)
	c.incomplete = c.incomplete || !holds(rewritten.Content, result.Content)
	c.letGo(slices.DeleteFunc(slices.Clone(result.Content), func(b abi.Block) bool {
		return b.Spilled == nil || slices.ContainsFunc(rewritten.Content, func(kept abi.Block) bool { return kept.Spilled == b.Spilled })
	}))
	return rewritten
}

// addNotes puts what hooks want the model told behind what the tool said.
func (c *call) addNotes(r *abi.ToolResult) {
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
func (c *call) hookGrant() *permissions.HookAnswer {
	if c.hook == nil || c.hook.Verdict != permissions.Allow {
		return nil
	}
	return c.hook
}
