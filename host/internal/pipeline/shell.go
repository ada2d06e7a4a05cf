package pipeline

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/commands"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/searches"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// newShell is what the capabilities that a call asks for know of commands.
func newShell(g *callGate) *commands.Shell {
	s := g.call.session()
	return commands.NewShell(s.Host.Commands, commands.Call{
		Tool: g.call.name(), Session: commandSession{s}, Memory: &s.Walked, Links: g.links,
		Gate: commandCall{g}, Analyser: commandCall{g}, Audience: commandCall{g},
	})
}

// commandCall is what package commands asks of a call.
type commandCall struct{ gate *callGate }

var (
	_ commands.Gate     = commandCall{}
	_ commands.Analyser = commandCall{}
	_ commands.Audience = commandCall{}
)

// Policy is the session's policy as it now is.
func (c commandCall) Policy() *permissions.Policy { return c.gate.renew().Policy }

// Approved are the accesses that a person allowed the call.
func (c commandCall) Approved() []permissions.Access { return c.gate.Approvals.Allowed() }

// MayRead reports whether the call may read a file, without asking anybody.
func (c commandCall) MayRead(name string) bool {
	return c.gate.mayTouch(permissions.Access{Kind: permissions.AccessRead, Target: name, Real: name})
}

// Place is where commands of the session begin.
func (c commandCall) Place() shell.Place { return c.gate.place() }

// Analyse finds out what a command would do at a place.
func (c commandCall) Analyse(text string, at shell.Place) permissions.Command {
	return c.gate.analyse(text, at)
}

// Offers reports whether the model may call a tool.
func (c commandCall) Offers(tool string) bool {
	_, ready, err := c.gate.call.turn.Catalog().List()
	return err == nil && slices.Contains(ready, tool)
}

// Remark tells the model something beside the call's result.
func (c commandCall) Remark(text string) { c.gate.call.remark(text) }

// Tell tells the session's followers about an effect of a command: as a part of the call,
// or, where that has ended and the command went on in the background, outside of all turns.
func (c commandCall) Tell(d capability.Deed) { c.gate.call.tell.Deed(d) }

// commandSession is what package commands asks of a session.
type commandSession struct{ *Session }

// Temp is the directory that commands have as /tmp.
func (s commandSession) Temp() (string, error) { return s.Storage.Temp() }

// Outputs is the directory for the output of commands.
func (s commandSession) Outputs() (string, error) { return s.Storage.Outputs() }

// Backgrounds reports whether commands may move to the background.
func (s commandSession) Backgrounds() bool { return s.Life.Backgrounds() }

// aliased adds to accesses the other names of the same file that a rule names.
func (g *callGate) aliased(accesses []permissions.Access) []permissions.Access {
	return g.links.Aliased(accesses)
}

// Clear is as [gate.Files] has it: the trees in which the commands of a subject meet
// nothing that rules withhold.
func (g *callGate) Clear(policy *permissions.Policy, about *gate.Subject) []permissions.Access {
	if len(policy.Searched(about.Commands)) == 0 {
		return nil
	}
	s := g.call.session()
	writable := policy.WorkingDirs()
	writable = append(writable, s.Host.Writable...)
	return g.trees.Clear(s.Life.Context(), about.Commands, searches.Sandbox{
		Policy: policy, Confined: g.confined(about.Operation),
		Rules: policy.SandboxPolicy(g.Approvals.Allowed()).Around(make(paths.Resolver).All(writable)),
	})
}

// confined reports whether the commands of a subject run in a sandbox that hides the paths
// that rules withhold. Only this host's capability for commands uses one, and what it runs
// is judged under its name when it is asked for.
func (g *callGate) confined(operation string) bool {
	h := g.call.session().Host
	_, runs := g.call.tool.Declares(abi.CapShellRun)
	if _, native := g.call.tool.(*tool.Native); native {
		runs = operation != "" // the tool itself may run commands as it likes
	}
	if !h.Shell || !runs || operation != "" && operation != abi.CapShellRun || g.call.leavesSandbox() {
		return false
	}
	return h.Commands.Confines(g.call.session().Life.Context())
}
