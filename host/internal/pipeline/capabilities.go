package pipeline

import (
	"context"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// world is how a running call reaches beyond its sandbox: each of its capability calls is
// judged, and then exactly that is done.
type world struct {
	*judging

	mu     sync.Mutex
	scopes map[string]permissions.Scope // by capability, compiled once a call
}

// errCallOver is the cause of the end of what a call set off and did not wait for.
var errCallOver = abi.Errorf(abi.CodeCancelled, "the call that made it has ended")

// do is the second gate: the function that a running call's capability calls
// go through.
func (g *world) do(ctx context.Context, req abi.Request) (abi.Answer, error) {
	GrowStack() // the runner's goroutine for this request is new
	if !g.work.Enter() {
		return abi.Answer{}, errCallOver
	}
	defer g.work.Leave()
	g.tell.Clocks().Capability(1)
	defer g.tell.Clocks().Capability(-1)
	answer, err := g.perform(ctx, req)
	g.tell.Capability(req.Name, err)
	return answer, err
}

func (g *world) perform(ctx context.Context, req abi.Request) (abi.Answer, error) {
	claim, ok := g.tool.Declares(req.Name)
	if !ok {
		return abi.Answer{}, g.undeclared(req.Name)
	}
	native, ok := g.session().Host.Capabilities[req.Name]
	if !ok {
		return abi.Answer{}, abi.Errorf(abi.CodeUnsupported, "this host has no capability %s", req.Name)
	}
	g.renew()
	commands := newShell(g.judging)
	plan, err := native.Plan(ctx, g.placed(commands), req)
	if err != nil {
		return abi.Answer{}, err
	}
	defer plan.Close()
	scope, err := g.scope(claim)
	if err != nil {
		return abi.Answer{}, err
	}
	p := &performing{g.judging, req.Name, claim, scope, commands.Analyse}
	return p.carryOut(ctx, plan)
}

// undeclared refuses a capability that the manifest does not give the tool.
func (g *world) undeclared(name string) error {
	var manifest *abi.Manifest
	if t, ok := g.tool.(tool.Plugin); ok {
		manifest = t.Plugin.Manifest()
	}
	return plugins.Undeclared(manifest, g.tool.Contract().Name, name)
}

// placed is what a capability is told of the session and the call.
func (g *world) placed(commands *commands.Shell) capability.Scope {
	c := g.core
	scope := capability.Scope{
		Cwd: g.view.Cwd, Report: unheard, Tell: g.tell.News, Tools: c.turn.Catalog(),
		Call:  c.identity(),
		Files: &c.files, Person: asker{g}, Lists: g.lists(), Cron: g.cron(),
		Output: c.session().Output, Settings: c.session().Settings, Unheard: c.session().Unheard, Skills: c.turn.Catalog().Skills(),
		PlanMode: rules.PlanMode{State: c.session().Rules}, PlanFile: planFile{g}, Worktrees: worktrees{g},
	}
	c.session().Storage.Provide(&scope)
	if from := c.tool.Source(); !from.Trusted {
		scope.Call.Plugin = from.Plugin
		if mayWrite(c.tool) {
			scope.Own = c.files.Own()
		}
	}
	if c.session().Host.Shell {
		scope.Shell = commands
	}
	if g.tell.Listens() {
		scope.Report = func(p abi.Progress) { g.tell.Report(abi.ProgressHead{Progress: &p}) }
	}
	return scope
}

func unheard(abi.Progress) {}

// scope is what the manifest limits a capability to.
func (g *world) scope(claim abi.CapabilityClaim) (permissions.Scope, error) {
	if len(claim.Scope) == 0 {
		return g.Policy().Scope(nil)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if scope, ok := g.scopes[claim.Name]; ok {
		return scope, nil
	}
	scope, err := g.Policy().Scope(claim.Scope)
	if err != nil {
		return scope, abi.Errorf(abi.CodeLoad, "the scope that the manifest gives %s: %w", claim.Name, err)
	}
	if g.scopes == nil {
		g.scopes = make(map[string]permissions.Scope)
	}
	g.scopes[claim.Name] = scope
	return scope, nil
}

// mayWrite reports whether a tool may ask to write files.
func mayWrite(t tool.Tool) bool {
	_, writes := t.Declares(abi.CapFSWrite)
	_, replaces := t.Declares(abi.CapFSReplace)
	return writes || replaces
}
