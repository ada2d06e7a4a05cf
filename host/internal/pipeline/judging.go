package pipeline

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/rules"
	capshell "github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// judging makes what is put before the gate: a call, or what it asks for, with everything
// that it is found to touch.
type judging struct{ desk }

// newJudging begins to judge a call, on the session as it now is.
func newJudging(c *core) *judging { return judgingAt(c, c.session().Rules.Fresh()) }

// judgingAt begins to judge a call, on a session as it is in a view.
func judgingAt(c *core, v *rules.View) *judging {
	contract, source, server := c.tool.Contract(), c.tool.Source(), c.server()
	g := &judging{desk{core: c, view: v, about: gate.Call{
		Tool: contract.Name, Aliases: contract.Aliases,
		Origin: permissions.Origin{Plugin: source.Plugin, Builtin: source.Trusted, Server: server.Name, Tool: server.Tool},
		Cwd:    v.Cwd, Title: c.title, Shown: c.shown, Input: c.input.json, Definition: c.tool, Effects: c.effects(),
	}}}
	g.now.Store(v)
	s := c.session()
	g.links.Begin(s.Life.Context, &g.desk, &s.Walked)
	g.trees.Begin(s.Host.Past, &s.Walked, &g.links, s.Host.MaxSearched)
	g.Gate = gate.Gate{
		Policies: &g.desk, Files: &g.desk, Approvals: &c.approvals, Judge: c.consultation,
		Log: (*journal)(&g.desk),
	}
	if !s.Headless() {
		g.Asker = &g.desk
	}
	return g
}

// subject is a capability call, or with an empty operation the call itself, as it is to
// be judged: with what its commands do, and the other names of its files.
func (g *judging) subject(operation string, accesses []permissions.Access, analyse analysis) *gate.Subject {
	s := &gate.Subject{Call: &g.about, Operation: operation}
	s.Accesses, s.Commands = withCommands(accesses, analyse)
	s.Accesses = g.aliased(s.Accesses)
	if operation != "" {
		s.Hook = g.hookGrant()
	}
	return s
}

// named is what the fields of a call's input name, with what is known of the paths
// among it, in the same order.
type named struct {
	accesses []permissions.Access
	facts    []abi.Fact
}

// whole is the call itself, as it is to be judged.
func (g *judging) whole() (*gate.Subject, named, error) {
	accesses, facts, err := g.accesses(g.view)
	if err != nil {
		return nil, named{}, err
	}
	s := g.subject("", accesses, g.analyseHere)
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
func (g *judging) analyseHere(text string) permissions.Command { return g.analyse(text, g.place("")) }

// analyse finds out what a command does at a place, with its paths as they now really
// lie.
func (g *judging) analyse(text string, at shell.Place) permissions.Command {
	language := abi.ShellBash
	if g.tool.Contract().Name == PowerShell {
		language = abi.ShellPowerShell
	}
	command := commands.Analyse(language, text, at)
	disk := g.session().Walked.Disk()
	command.Resolve(disk.OfCommand)
	policy := g.Policy()
	disk.AddMatches(&command, policy.SandboxPolicy(nil).Withholds, func() bool { return g.wholly(policy, "") })
	command.Unsandboxed = g.leavesSandbox()
	return command
}

// place is where a command runs that an operation, or with an empty one the call itself, is
// about: directories as they really lie, since a shell steps out of one by where that is.
func (g *judging) place(operation string) shell.Place {
	g.showStaged()
	policy, at := g.Policy(), g.session().Walked.Disk().Place
	return shell.Place{
		Cwd:     really(policy.Cwd()),
		Home:    really(g.session().Rules.Home()),
		Working: policy.WorkingDirs(),
		Repository: func(dir string) (permissions.Repository, bool) {
			read := func(file string) ([]byte, error) { return paths.Beginning(at(file)) }
			return policy.Repository(dir, read, func(dir string) ([]string, error) { return paths.Names(at(dir)) }, func(dir string) ([]string, error) { return paths.Links(at(dir)) })
		},
		Scratch: func() shell.Scratch { return g.scratch(operation) },
	}
}

// scratch is where a command's temporary files lie. Without a sandbox the user may have
// named another directory.
func (g *judging) scratch(operation string) shell.Scratch {
	h := g.session().Host
	if !h.Shell {
		return shell.Scratch{}
	}
	confined := g.confined(operation)
	dir, err := g.session().Storage.Temp()
	if err != nil || !confined && slices.ContainsFunc(h.Commands.Environment(false), capshell.NamesTemp) {
		return shell.Scratch{}
	}
	s := shell.Scratch{Dir: filepath.ToSlash(dir)}
	if confined && capshell.OwnTemp {
		policy := g.Policy()
		s.Mounted = append(policy.WorkingDirs(), really(policy.Cwd()), really(g.session().Rules.Home()))
		s.Mounted = append(s.Mounted, new(paths.Lookups).All(h.Writable)...)
	}
	return s
}

// really is where a directory was found to lie.
func really(d permissions.Dir) string { return filepath.ToSlash(cmp.Or(d.Real, d.Path)) }

// factsOperation stands for what a call learns about a path without opening it.
const factsOperation = "facts"

// mayTouch reports whether the rules, by themselves, allow an access.
func (g *judging) mayTouch(a permissions.Access) bool {
	s := gate.Subject{Call: &g.about, Operation: factsOperation, Accesses: g.aliased([]permissions.Access{a})}
	return g.Decide(&s).Verdict == permissions.Allow
}

// allowedFacts keeps the facts about paths that the rules allow the call to
// read: a tool learns nothing of the others, not even whether they exist.
func (g *judging) allowedFacts(accesses []permissions.Access, facts []abi.Fact) []abi.Fact {
	if len(facts) == 0 {
		return nil
	}
	paths := slices.DeleteFunc(slices.Clone(accesses), func(a permissions.Access) bool {
		return a.Kind != permissions.AccessRead && a.Kind != permissions.AccessWrite
	})
	var kept []abi.Fact
	for i, fact := range facts {
		read := paths[i]
		read.Kind = permissions.AccessRead
		if g.mayTouch(read) {
			kept = append(kept, fact)
		}
	}
	return kept
}
