package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// gate is where everything a call wants to do is judged, twice: the call itself
// before it starts, and each of its capability calls on the very value that is
// then acted on. A capability call must be
//
//  1. declared in the manifest, for this tool, and within the scope declared;
//  2. granted by a person (held by package plugins before the guest runs);
//  3. consistent with the traits the tool was scheduled by;
//  4. allowed by the rules, or by a person, for exactly these accesses.
//
// Then the plan that was judged is done.
type gate struct {
	call *call
	view *view

	// now is the view that counts, taken anew with every question; view is the one
	// that the gate began with.
	now atomic.Pointer[view]

	mu     sync.Mutex
	scopes map[string]permissions.Scope // by capability, compiled once a call
	looked map[permissions.Access]looked

	heldOnce sync.Once
	held     heldFiles
}

func newGate(c *call) *gate {
	g := &gate{call: c}
	g.view = g.renew()
	return g
}

// renew takes up the session's policy as it now is. Rules that tighten hold a
// call that runs already.
func (g *gate) renew() *view {
	v := g.call.session().fresh()
	g.now.Store(v)
	return v
}

// policy is the one that counts.
func (g *gate) policy() *permissions.Policy { return g.now.Load().policy }

// matter is what one decision is about: the call itself, or one of its
// capability calls.
type matter struct {
	// operation is the capability that is asked for; empty for the call itself.
	operation string
	accesses  []permissions.Access
	commands  []permissions.Command
	// check is the tool's own verdict.
	check *abi.Check
	// hook is what the hooks said of the call.
	hook *permissions.HookAnswer
	// judge is what a judge said of this very matter.
	judge *permissions.JudgeAnswer
	// decided says that a decision on it is logged that leaves nothing to ask.
	decided bool
	// preview is what the call would change, as far as its rehearsal showed.
	preview string
}

func (m *matter) stage() permissions.Stage {
	if m.operation == "" {
		return permissions.StageCall
	}
	return permissions.StageCapability
}

// decide judges a matter by the rules and by what a person allowed this call.
// Nothing is asked and nothing happens.
func (g *gate) decide(m *matter) permissions.Decision {
	request, evidence := g.facts(m)
	return permissions.Decide(g.policy(), request, evidence)
}

// facts are what a matter is judged by.
func (g *gate) facts(m *matter) (permissions.Request, permissions.Evidence) {
	contract, source := g.call.tool.contract(), g.call.tool.source()
	request := permissions.Request{
		Stage:     m.stage(),
		Tool:      contract.Name,
		Aliases:   contract.Aliases,
		Origin:    permissions.Origin{Plugin: source.plugin, Builtin: source.trusted},
		Input:     g.call.input,
		Accesses:  m.accesses,
		Protected: g.protected(m.accesses),
		Clear:     g.clearTrees(m),
		Commands:  m.commands,
		Effects:   g.call.effects(),
		Headless:  g.call.session().asker == nil,
	}
	if m.check != nil {
		request.ToolCheck = permissions.ParseCheck(m.check.Verdict)
	}
	evidence := permissions.Evidence{Hook: m.hook, Judge: m.judge, Approval: g.call.approved.evidence(g.call.binding)}
	if evidence.Approval != nil || evidence.Judge != nil {
		request.InputHash = g.call.binding()
	}
	return request, evidence
}

// protected are the paths by which git comes to run programs in the repositories around
// what is to be written, as far as their names do not tell.
func (g *gate) protected(accesses []permissions.Access) []string {
	var names []string
	for _, a := range accesses {
		if a.Kind != permissions.AccessWrite {
			continue
		}
		names = append(names, a.Target)
		if a.Real != "" && a.Real != a.Target {
			names = append(names, a.Real)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !filepath.IsAbs(name) || inKernelDir(name) })
	if len(names) == 0 {
		return nil
	}
	return g.policy().GitAround(names, once(namesIn), onceRead())
}

// effects says how much of what the call does is known before it starts. A
// plugin can do nothing but ask for capabilities; an embedder's own tool does
// what it likes, unless it says that it is read-only or names its fields.
func (c *call) effects() permissions.Effects {
	t, native := c.tool.(*nativeTool)
	switch {
	case !native:
		return permissions.EffectsGated
	case len(t.Contract.Fields) > 0 || c.traits.readOnly:
		return permissions.EffectsListed
	}
	return permissions.EffectsUnknown
}

// permit lets a matter pass that the rules allow, that a person allowed this call
// already, or that a judge or a person allows now. No clock of the guest's runs
// meanwhile.
func (g *gate) permit(ctx context.Context, m *matter) error {
	d := g.decide(m)
	if d.Verdict == permissions.Allow && m.operation != "" && g.unheard() {
		return nil
	}
	d, by, err := g.consult(ctx, m, d)
	if err != nil {
		return err
	}
	if err := g.record(m, &d, by); err != nil {
		return err
	}
	switch d.Verdict {
	case permissions.Allow:
		return nil
	case permissions.Ask:
		err := g.ask(ctx, m)
		g.unanswered(m, err)
		return err
	}
	return refusal(d)
}

func refusal(d permissions.Decision) error {
	return abi.Errorf(d.Code(), "%s", d.Message())
}

// binding identifies what is judged and approved: this input to this very tool.
func (c *call) binding() string {
	definition := c.tool.definition()
	sum := sha256.Sum256(append(definition[:], c.input...))
	return hex.EncodeToString(sum[:])
}

// do is the second gate: the function that a running call's capability calls
// go through.
func (g *gate) do(ctx context.Context, req abi.Request) (abi.Answer, error) {
	growStack() // the runner's goroutine for this request is new
	if !g.call.work.enter() {
		return abi.Answer{}, errCallOver
	}
	defer g.call.work.leave()
	g.call.watch.capability(1)
	defer g.call.watch.capability(-1)
	answer, err := g.perform(ctx, req)
	g.call.event(Event{Kind: EventCapability, Capability: req.Name, Err: err, Elapsed: g.call.elapsed()})
	return answer, err
}

func (g *gate) perform(ctx context.Context, req abi.Request) (abi.Answer, error) {
	claim, ok := g.call.tool.declares(req.Name)
	if !ok {
		return abi.Answer{}, g.call.undeclared(req.Name)
	}
	native, ok := g.call.session().host.capabilities[req.Name]
	if !ok {
		return abi.Answer{}, abi.Errorf(abi.CodeUnsupported, "this host has no capability %s", req.Name)
	}
	g.renew()
	commands := newCommander(g)
	plan, err := native.Plan(ctx, g.placed(commands), req)
	if err != nil {
		return abi.Answer{}, err
	}
	defer plan.Close()
	return g.carryOut(ctx, req, claim, plan, commands)
}

// undeclared refuses a capability that the manifest does not give the tool.
func (c *call) undeclared(name string) error {
	var manifest *abi.Manifest
	if t, ok := c.tool.(pluginTool); ok {
		manifest = t.Plugin.Manifest()
	}
	return plugins.Undeclared(manifest, c.tool.contract().Name, name)
}

// placed is what a capability is told of the session and the call.
func (g *gate) placed(commands *commander) capability.Scope {
	c := g.call
	scope := capability.Scope{
		Cwd: g.view.cwd, Report: unheard, Tools: (*catalog)(c),
		Call:  capability.Call{ID: c.use.ID, Tool: c.tool.contract().Name},
		Files: (*onlooker)(c), History: c.session().history(), Stage: c.session().stage(),
	}
	if from := c.tool.source(); !from.trusted {
		scope.Call.Plugin = from.plugin
		if c.mayWrite() {
			scope.Own = &c.own
		}
	}
	if scope.Stage != nil {
		scope.History = nil // nothing is written before it is applied
	}
	if c.session().host.options.Shell != nil {
		scope.Shell, scope.Tasks = commands, c.session().tasks()
	}
	if g.call.turn.told() {
		scope.Report = func(p abi.Progress) { g.call.report(abi.ProgressHead{Progress: &p}) }
	}
	return scope
}

// mayWrite reports whether the tool may ask to write files.
func (c *call) mayWrite() bool {
	_, writes := c.tool.declares(abi.CapFSWrite)
	_, replaces := c.tool.declares(abi.CapFSReplace)
	return writes || replaces
}

func unheard(abi.Progress) {}

// carryOut judges a plan and does it.
func (g *gate) carryOut(ctx context.Context, req abi.Request, claim abi.CapabilityClaim, plan capability.Plan, commands *commander) (abi.Answer, error) {
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
	m := matter{operation: req.Name, hook: g.call.hookGrant()}
	m.accesses, m.commands = withCommands(accesses, commands.Analyse)
	m.accesses = g.aliased(m.accesses)
	if err := g.permit(ctx, &m); err != nil {
		return abi.Answer{}, err
	}
	if ctx.Err() != nil {
		return abi.Answer{}, cancelled(ctx)
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
		g.call.session().sights.note(read.Path, &read)
	}
	return answer, err
}

// scope is what the manifest limits a capability to.
func (g *gate) scope(claim abi.CapabilityClaim) (permissions.Scope, error) {
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
func (g *gate) outOfScope(a permissions.Access, all []permissions.Access, claim abi.CapabilityClaim) error {
	m := matter{operation: claim.Name, accesses: all}
	d := g.decide(&m)
	if d.Verdict == permissions.Deny && !d.Headless {
		if err := g.record(&m, &d, ""); err != nil {
			return err
		}
		return refusal(d)
	}
	return abi.Errorf(abi.CodeUndeclared, "%s is outside the scope %q that the manifest of %s gives %s",
		a.Target, claim.Scope, g.call.tool.contract().Name, claim.Name)
}
