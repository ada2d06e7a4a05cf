package pipeline

import (
	"context"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/permissions"
)

// hookInput is what hooks are told of the call.
func (g *judging) hookInput() hooks.Input {
	c, v, contract := g.core, g.view, g.tool.Contract()
	return hooks.Input{
		SessionID: c.session().ID, TurnID: c.turn.ID(), Caller: c.turn.Caller(), Cwd: v.Cwd, Mode: v.Policy.Mode(),
		Tool: contract.Name, Aliases: contract.Aliases, ToolInput: c.input.json, ToolUseID: c.use.ID,
		Plugin: c.tool.Source().Plugin, Server: g.about.Origin.Server, ServerTool: g.about.Origin.Tool, Binding: g.about.Binding(),
	}
}

// preHooks runs the hooks before the call, once.
func (g *judging) preHooks(ctx context.Context) error {
	c := g.core
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

// postHooks runs the hooks after the call, which ended with a result or an error,
// and returns the result as they want it shown.
func (g *judging) postHooks(ctx context.Context, result abi.ToolResult, failure error) abi.ToolResult {
	c := g.core
	finishing{c}.holdStructured(&result)
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
