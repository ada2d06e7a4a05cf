package pipeline

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/commands"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// do is the second gate: the function that a running call's capability calls
// go through.
func (g *callGate) do(ctx context.Context, req abi.Request) (abi.Answer, error) {
	GrowStack() // the runner's goroutine for this request is new
	if !g.call.work.Enter() {
		return abi.Answer{}, errCallOver
	}
	defer g.call.work.Leave()
	g.call.tell.Clocks().Capability(1)
	defer g.call.tell.Clocks().Capability(-1)
	answer, err := g.perform(ctx, req)
	g.call.tell.Capability(req.Name, err)
	return answer, err
}

func (g *callGate) perform(ctx context.Context, req abi.Request) (abi.Answer, error) {
	claim, ok := g.call.tool.Declares(req.Name)
	if !ok {
		return abi.Answer{}, g.call.undeclared(req.Name)
	}
	native, ok := g.call.session().Host.Capabilities[req.Name]
	if !ok {
		return abi.Answer{}, abi.Errorf(abi.CodeUnsupported, "this host has no capability %s", req.Name)
	}
	g.renew()
	commands := newShell(g)
	plan, err := native.Plan(ctx, g.placed(commands), req)
	if err != nil {
		return abi.Answer{}, err
	}
	defer plan.Close()
	return g.carryOut(ctx, req, claim, plan, commands)
}

// undeclared refuses a capability that the manifest does not give the tool.
func (c *Call) undeclared(name string) error {
	var manifest *abi.Manifest
	if t, ok := c.tool.(tool.Plugin); ok {
		manifest = t.Plugin.Manifest()
	}
	return plugins.Undeclared(manifest, c.tool.Contract().Name, name)
}

// placed is what a capability is told of the session and the call.
func (g *callGate) placed(commands *commands.Shell) capability.Scope {
	c := g.call
	scope := capability.Scope{
		Cwd: g.view.Cwd, Report: unheard, Tools: c.turn.Catalog(),
		Call:  capability.Call{ID: c.use.ID, Tool: c.tool.Contract().Name},
		Files: &c.files,
	}
	c.session().Storage.Provide(&scope)
	if from := c.tool.Source(); !from.Trusted {
		scope.Call.Plugin = from.Plugin
		if c.mayWrite() {
			scope.Own = c.files.Own()
		}
	}
	if c.session().Host.Shell {
		scope.Shell = commands
	}
	if g.call.tell.Listens() {
		scope.Report = func(p abi.Progress) { g.call.tell.Report(abi.ProgressHead{Progress: &p}) }
	}
	return scope
}

func unheard(abi.Progress) {}

// carryOut judges a plan and does it.
func (g *callGate) carryOut(ctx context.Context, req abi.Request, claim abi.CapabilityClaim, plan capability.Plan, commands *commands.Shell) (abi.Answer, error) {
	accesses := plan.Accesses()
	scope, err := g.scope(claim)
	if err != nil {
		return abi.Answer{}, err
	}
	for _, a := range accesses {
		held := a
		held.Tree = a.Tree && req.Name != abi.CapFSList // which goes into no directory
		if err := g.consistent(held, commands.Analyse); err != nil {
			return abi.Answer{}, err
		}
		if err := g.stageable(req.Name, a); err != nil {
			return abi.Answer{}, err
		}
		if !scope.Covers(a) {
			return abi.Answer{}, g.outOfScope(a, accesses, claim)
		}
	}
	if err := g.shellFits(plan, accesses); err != nil {
		return abi.Answer{}, err
	}
	s := g.subject(req.Name, accesses, commands.Analyse)
	if err := g.Permit(ctx, s); err != nil {
		return abi.Answer{}, err
	}
	if ctx.Err() != nil {
		return abi.Answer{}, gate.Cancelled(ctx)
	}
	if walker, ok := plan.(capability.Walker); ok {
		walker.Through(func(dir permissions.Access) (bool, func(string) bool) {
			return g.permittedDir(claim, &scope, dir)
		})
	}
	answer, err := plan.Do(ctx, func(a permissions.Access) bool {
		// A list holds the names of a directory, and nothing of what they name.
		consistent := req.Name == abi.CapFSList || g.consistent(a, commands.Analyse) == nil
		return consistent && g.stageable(req.Name, a) == nil && scope.Covers(a) && g.permitted(req.Name, a)
	})
	if err == nil || ctx.Err() != nil { // what was ended may have done a part
		g.call.deeds.add(accesses)
	}
	if read, ok := answer.OK.(abi.ReadOK); ok {
		g.call.session().Files.Note(read.Path, &read)
	}
	return answer, err
}

// scope is what the manifest limits a capability to.
func (g *callGate) scope(claim abi.CapabilityClaim) (permissions.Scope, error) {
	if len(claim.Scope) == 0 {
		return g.policy().Scope(nil)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if scope, ok := g.scopes[claim.Name]; ok {
		return scope, nil
	}
	scope, err := g.policy().Scope(claim.Scope)
	if err != nil {
		return scope, abi.Errorf(abi.CodeLoad, "the scope that the manifest gives %s: %w", claim.Name, err)
	}
	if g.scopes == nil {
		g.scopes = make(map[string]permissions.Scope)
	}
	g.scopes[claim.Name] = scope
	return scope, nil
}

// outOfScope refuses an access for the scope it leaves, unless a rule denies it
// anyway: a directory is in every scope until it is searched, so the two
// refusals together would tell what lies behind a denied path.
func (g *callGate) outOfScope(a permissions.Access, all []permissions.Access, claim abi.CapabilityClaim) error {
	if err := g.Denied(&gate.Subject{Call: &g.about, Operation: claim.Name, Accesses: all}); err != nil {
		return err
	}
	return abi.Errorf(abi.CodeUndeclared, "%s is outside the scope %q that the manifest of %s gives %s",
		a.Target, claim.Scope, g.call.tool.Contract().Name, claim.Name)
}
