package pipeline

import (
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/protected"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/searches"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
)

// desk is one call at the gate. Everything a call wants to do is judged there twice:
// the call itself before it starts, and each of its capability calls on the very value
// that is then acted on. A capability call must be
//
//  1. declared in the manifest, for this tool, and within the scope declared;
//  2. granted by a person (held by package plugins before the guest runs);
//  3. consistent with the traits the tool was scheduled by;
//  4. allowed by the rules, or by a person, for exactly these accesses.
//
// Then the plan that was judged is done. The fourth is for [gate.Gate]; a desk is
// what that sees of the call and its session.
type desk struct {
	gate.Gate
	*core
	about gate.Call
	// view is the session as it was when the gate was made, and now the one whose rules
	// count.
	view *rules.View
	now  atomic.Pointer[rules.View]

	links protected.HardLinks
	trees searches.Trees
}

var (
	_ gate.Policies = (*desk)(nil)
	_ gate.Files    = (*desk)(nil)
	_ gate.Log      = (*journal)(nil)
	_ gate.Asker    = (*desk)(nil)
)

// Now is as [gate.Policies] has it.
func (g *desk) Now() *gate.View { return &g.now.Load().View }

// Renew is as [gate.Policies] has it. Rules that tighten hold a call that runs already.
func (g *desk) Renew() *gate.View { return &g.renew().View }

func (g *desk) renew() *rules.View {
	v := g.session().Rules.Fresh()
	g.now.Store(v)
	return v
}

// Changed is as [gate.Policies] has it.
func (g *desk) Changed() <-chan struct{} { return g.session().Rules.Changed() }

// Policy is the one that counts.
func (g *desk) Policy() *permissions.Policy { return g.Now().Policy }

// Protected is as [gate.Files] has it: the paths by which git comes to run programs in
// the repositories around what is to be written, as far as their names do not tell.
func (g *desk) Protected(policy *permissions.Policy, accesses []permissions.Access) []string {
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
	var files paths.Lookups
	return policy.GitAround(names, files.Names, files.Beginning)
}

// aliased adds to accesses the other names of the same file that a rule names.
func (g *desk) aliased(accesses []permissions.Access) []permissions.Access {
	return g.links.Aliased(accesses)
}

// Clear is as [gate.Files] has it: the trees in which the commands of a subject meet
// nothing that rules withhold.
func (g *desk) Clear(policy *permissions.Policy, about *gate.Subject) []permissions.Access {
	if len(policy.Searched(about.Commands)) == 0 {
		return nil
	}
	s := g.session()
	writable := policy.WorkingDirs()
	writable = append(writable, s.Host.Writable...)
	return g.trees.Clear(s.Life.Context, about.Commands, searches.Sandbox{
		Policy: policy, Confined: g.confined(about.Operation), Wholly: g.Confined(policy, about),
		Rules: policy.SandboxPolicy(g.Approvals.Allowed()).Around(new(paths.Lookups).All(writable)),
	})
}

// Confined is as [gate.Files] has it. Where everything may be read, commands see everything,
// also what a rule of any depth names somewhere. Commands of PowerShell are not looked into.
func (g *desk) Confined(policy *permissions.Policy, about *gate.Subject) bool {
	open := func(c permissions.Command) bool { return !c.ReadOnly }
	return slices.ContainsFunc(about.Commands, open) && g.wholly(policy, about.Operation)
}

// wholly reports whether commands run wholly confined.
func (g *desk) wholly(policy *permissions.Policy, operation string) bool {
	if g.name() == PowerShell || !g.confined(operation) {
		return false
	}
	_, all := policy.Readable()
	return !all && g.session().Host.Commands.Bounds()
}

// readsOnly reports whether a command only reads, by itself or as it runs wholly confined.
func (g *desk) readsOnly(policy *permissions.Policy, operation string, c *permissions.Command) bool {
	return c.ReadOnly || policy.OnlyReads(c) && g.wholly(policy, operation)
}

// confined reports whether the commands of a subject run in a sandbox that hides the paths
// that rules withhold. Only this host's capability for commands uses one, and what it runs
// is judged under its name when it is asked for.
func (g *desk) confined(operation string) bool {
	h := g.session().Host
	_, runs := g.tool.Declares(abi.CapShellRun)
	if _, native := g.tool.(*tool.Native); native {
		runs = operation != "" // the tool itself may run commands as it likes
	}
	if !h.Shell || !runs || operation != "" && operation != abi.CapShellRun || g.leavesSandbox() {
		return false
	}
	return h.Commands.Confines(g.session().Life.Context)
}

// Waiting is as [gate.Asker] has it: a call that runs lends its slot meanwhile.
func (g *desk) Waiting(s *gate.Subject, do func()) {
	g.tell.Clocks().Asks(1)
	defer g.tell.Clocks().Asks(-1)
	if s.Operation == "" {
		do()
		return
	}
	g.Lend(do)
}

// Closed is as [gate.Asker] has it.
func (g *desk) Closed() error { return g.begins() }
