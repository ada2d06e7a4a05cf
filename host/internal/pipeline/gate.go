package pipeline

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/protected"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/searches"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
)

// callGate is one call at the gate. Everything a call wants to do is judged there twice:
// the call itself before it starts, and each of its capability calls on the very value
// that is then acted on. A capability call must be
//
//  1. declared in the manifest, for this tool, and within the scope declared;
//  2. granted by a person (held by package plugins before the guest runs);
//  3. consistent with the traits the tool was scheduled by;
//  4. allowed by the rules, or by a person, for exactly these accesses.
//
// Then the plan that was judged is done. The fourth is for [gate.Gate]; a callGate is
// what that sees of the call and its session.
type callGate struct {
	gate.Gate
	call  *Call
	about gate.Call
	// view is the session as it was when the gate was made, and now the one whose rules
	// count.
	view *rules.View
	now  atomic.Pointer[rules.View]

	mu     sync.Mutex
	scopes map[string]permissions.Scope // by capability, compiled once a call

	links *protected.HardLinks
	trees *searches.Trees
}

var (
	_ gate.Policies = (*callGate)(nil)
	_ gate.Files    = (*callGate)(nil)
	_ gate.Log      = (*callGate)(nil)
	_ gate.Asker    = (*callGate)(nil)
)

// newGate brings a call to the gate, on the session as it now is.
func newGate(c *Call) *callGate { return gateAt(c, c.session().Rules.Fresh()) }

// gateAt brings a call to the gate, on a session as it is in a view.
func gateAt(c *Call, v *rules.View) *callGate {
	contract, source := c.tool.Contract(), c.tool.Source()
	g := &callGate{call: c, view: v, about: gate.Call{
		Tool: contract.Name, Aliases: contract.Aliases,
		Origin: permissions.Origin{Plugin: source.Plugin, Builtin: source.Trusted},
		Title:  c.title, Input: c.input.json, Definition: c.tool.Definition, Effects: c.effects(),
	}}
	g.now.Store(v)
	s := c.session()
	g.links = protected.NewHardLinks(s.Life.Context(), g.policy, &s.Walked)
	g.trees = searches.NewTrees(s.Host.Past, &s.Walked, g.links, s.Host.MaxSearched)
	g.Gate = gate.Gate{Policies: g, Files: g, Approvals: &c.approvals, Log: g, Judge: c.consultation}
	if s.Asker != nil {
		g.Asker = g
	}
	return g
}

// subject is a capability call, or with an empty operation the call itself, as it is to
// be judged: with what its commands do, and the other names of its files.
func (g *callGate) subject(operation string, accesses []permissions.Access, analyse analysis) *gate.Subject {
	s := &gate.Subject{Call: &g.about, Operation: operation}
	s.Accesses, s.Commands = withCommands(accesses, analyse)
	s.Accesses = g.aliased(s.Accesses)
	if operation != "" {
		s.Hook = g.call.hookGrant()
	}
	return s
}

// Now is as [gate.Policies] has it.
func (g *callGate) Now() *gate.View { return &g.now.Load().View }

// Renew is as [gate.Policies] has it. Rules that tighten hold a call that runs already.
func (g *callGate) Renew() *gate.View { return &g.renew().View }

func (g *callGate) renew() *rules.View {
	v := g.call.session().Rules.Fresh()
	g.now.Store(v)
	return v
}

// Changed is as [gate.Policies] has it.
func (g *callGate) Changed() <-chan struct{} { return g.call.session().Rules.Changed() }

// policy is the one that counts.
func (g *callGate) policy() *permissions.Policy { return g.Now().Policy }

// Protected is as [gate.Files] has it: the paths by which git comes to run programs in
// the repositories around what is to be written, as far as their names do not tell.
func (g *callGate) Protected(policy *permissions.Policy, accesses []permissions.Access) []string {
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
	names = slices.DeleteFunc(names, func(name string) bool { return !filepath.IsAbs(name) || paths.InKernelDir(name) })
	if len(names) == 0 {
		return nil
	}
	return policy.GitAround(names, paths.CachedNames(), paths.CachedBeginning())
}

// Unheard is as [gate.Log] has it.
func (g *callGate) Unheard() bool {
	return !g.call.tell.Listens() && g.call.session().Host.Log == nil
}

// Record is as [gate.Log] has it: it logs a decision, and tells of it.
func (g *callGate) Record(s *gate.Subject, d *permissions.Decision, by string) error {
	if err := g.append(s, d, by); err != nil {
		return err
	}
	g.call.tell.Decided(s.Operation, *d)
	return nil
}

// append puts a decision in the operator's log.
func (g *callGate) append(s *gate.Subject, d *permissions.Decision, by string) error {
	o := g.call.session().Host
	if o.Log == nil {
		return nil
	}
	e := audit.Of(d)
	e.Judged(s.Accesses)
	e.Session, e.Call = g.call.session().ID, g.call.use.ID
	e.Plugin, e.Capability = s.Call.Origin.Plugin, s.Operation
	e.Mode, e.Binding, e.By = g.policy().Mode(), s.Call.Binding(), by
	err := o.Log.Append(e)
	if err == nil {
		return nil
	}
	o.Logger.Error("a decision is missing in the log", "error", err)
	if o.LogRequired && d.Verdict != permissions.Deny {
		return abi.Errorf(abi.CodeIO, "the decision could not be logged, and may not take effect unlogged: %w", err)
	}
	return nil
}

// Warn is as [gate.Log] has it.
func (g *callGate) Warn(text string) { g.call.warn("%s", text) }

// Waiting is as [gate.Asker] has it: a call that runs lends its slot meanwhile.
func (g *callGate) Waiting(s *gate.Subject, do func()) {
	g.call.tell.Clocks().Asks(1)
	defer g.call.tell.Clocks().Asks(-1)
	if s.Operation == "" {
		do()
		return
	}
	g.call.lend(do)
}

// Closed is as [gate.Asker] has it.
func (g *callGate) Closed() error { return g.call.begins() }

// Ask is as [gate.Asker] has it.
func (g *callGate) Ask(ctx context.Context, q *gate.Question) <-chan gate.Answer {
	return g.call.session().Asker.Ask(ctx, g.call, q)
}
