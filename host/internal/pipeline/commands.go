package pipeline

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/powershell"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// named is what the fields of a call's input name, with what is known of the paths
// among it, in the same order.
type named struct {
	accesses []permissions.Access
	facts    []abi.Fact
}

// whole is the call itself, as it is to be judged.
func (g *callGate) whole() (*gate.Subject, named, error) {
	accesses, facts, err := g.call.accesses(g.view)
	if err != nil {
		return nil, named{}, err
	}
	s := g.subject("", accesses, g.analyseHere)
	s.Rehearse = g.rehearse
	return s, named{accesses, facts}, nil
}

// analysis finds out what a command does.
type analysis func(text string) permissions.Command

// withCommands finds out what the commands among the accesses do, and puts that
// behind each.
func withCommands(accesses []permissions.Access, analyse analysis) ([]permissions.Access, []permissions.Command) {
	var all []permissions.Access
	var commands []permissions.Command
	for i, a := range accesses {
		if a.Kind != permissions.AccessExec {
			if commands != nil {
				all = append(all, a)
			}
			continue
		}
		if commands == nil {
			all = append(all, accesses[:i]...)
		}
		command := analyse(a.Target)
		commands = append(commands, command)
		all = append(all, command.Accesses()...)
	}
	if commands == nil {
		return accesses, nil
	}
	return all, commands
}

// PowerShell is the tool whose commands are not for bash.
const PowerShell = "PowerShell"

// analyseHere finds out what a command does where the session now is.
func (g *callGate) analyseHere(text string) permissions.Command { return g.analyse(text, g.place()) }

// analyse finds out what a command does at a place, with its paths as they now really
// lie.
func (g *callGate) analyse(text string, at shell.Place) permissions.Command {
	var command permissions.Command
	if g.call.tool.Contract().Name == PowerShell {
		command = powershell.Analyse(text, powershell.Place{Cwd: at.Cwd, Home: at.Home, Working: at.Working})
	} else {
		command = shell.Analyse(text, at)
	}
	command.Resolve(paths.OfCommand)
	paths.AddMatches(&command, g.policy().SandboxPolicy(nil).Withholds)
	command.Unsandboxed = g.call.leavesSandbox()
	return command
}

// shellFits refuses to run a command otherwise than it is judged: by another shell than
// its tool's, outside the sandbox though the call does not say so, or another one than
// the call's input names, which is what was judged and what a person was shown.
func (g *callGate) shellFits(plan capability.Plan, accesses []permissions.Access) error {
	runner, ok := plan.(capability.Runner)
	if !ok {
		return nil
	}
	name := g.call.name()
	switch {
	case (runner.Shell() == abi.ShellPowerShell) != (name == PowerShell):
		return abi.Errorf(abi.CodeDenied, "%s asked for a command in %s, which its commands are not judged for; only %s runs those of PowerShell", name, runner.Shell(), PowerShell)
	case runner.LeavesSandbox() && !g.call.leavesSandbox():
		return abi.Errorf(abi.CodeDenied, "%s asked to run a command outside the sandbox, and its input does not say so: it takes %s = true", name, leave)
	}
	return g.commandsFit(accesses)
}

// commandsFit refuses commands that are not, byte for byte, among those that the call's
// input names. A tool whose input names none says what it runs when it does, and is
// judged then.
func (g *callGate) commandsFit(accesses []permissions.Access) error {
	named, names, err := g.call.commandsNamed()
	if err != nil || !names {
		return err
	}
	for _, a := range accesses {
		if a.Kind == permissions.AccessExec && !slices.Contains(named, a.Target) {
			return abi.Errorf(abi.CodeDenied, "%s asked for another command than its input names, which is the one that was judged", g.call.name())
		}
	}
	return nil
}

// place is where a command runs: directories as they really lie, since a shell
// steps out of one by where that is.
func (g *callGate) place() shell.Place {
	policy := g.policy()
	return shell.Place{
		Cwd:     really(policy.Cwd()),
		Home:    really(g.call.session().Rules.Home()),
		Working: policy.WorkingDirs(),
		Repository: func(dir string) (permissions.Repository, bool) {
			return policy.Repository(dir, paths.Beginning, paths.Names, paths.Links)
		},
	}
}

// really is where a directory was found to lie.
func really(d permissions.Dir) string { return filepath.ToSlash(cmp.Or(d.Real, d.Path)) }
