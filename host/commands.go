package host

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/shell"
)

// named is what the fields of a call's input name, with what is known of the paths
// among it, in the same order.
type named struct {
	accesses []permissions.Access
	facts    []abi.Fact
}

// matter is the call itself, as it is to be judged.
func (g *gate) matter() (*matter, named, error) {
	accesses, facts, err := g.call.accesses(g.view)
	if err != nil {
		return nil, named{}, err
	}
	m := &matter{}
	m.accesses, m.commands = g.withCommands(accesses)
	return m, named{accesses, facts}, nil
}

// withCommands finds out what the commands among the accesses do, and puts that
// behind each.
func (g *gate) withCommands(accesses []permissions.Access) ([]permissions.Access, []permissions.Command) {
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
		command := g.analyse(a.Target)
		commands = append(commands, command)
		all = append(all, command.Accesses()...)
	}
	if commands == nil {
		return accesses, nil
	}
	return all, commands
}

// powerShell is the tool whose commands are not for bash.
const powerShell = "PowerShell"

// analyse finds out what a command does, with its paths as they now really lie.
func (g *gate) analyse(text string) permissions.Command {
	if g.call.tool.contract().Name == powerShell {
		return permissions.Command{Text: text, Fault: "commands for PowerShell are not understood", Unsandboxed: g.call.leavesSandbox()}
	}
	command := shell.Analyse(text, g.place())
	command.Resolve(realPath)
	addLinks(&command)
	command.Unsandboxed = g.call.leavesSandbox()
	return command
}

// leave is the input field that asks to run a command outside the sandbox.
const leave = "dangerouslyDisableSandbox"

// leavesSandbox reports whether the model asks to run a command outside the
// sandbox. Anything but a plain no is a yes, however a decoder may read the key.
func (c *call) leavesSandbox() bool {
	var input map[string]json.RawMessage
	if json.Unmarshal(c.input, &input) != nil {
		return true
	}
	for key, said := range input {
		if strings.EqualFold(key, leave) && string(said) != "false" && string(said) != "null" {
			return true
		}
	}
	return false
}

// place is where a command runs: directories as they really lie, since a shell
// steps out of one by where that is.
func (g *gate) place() shell.Place {
	policy := g.policy()
	return shell.Place{
		Cwd:     really(policy.Cwd()),
		Home:    really(g.call.session().base.Home),
		Working: policy.WorkingDirs(),
	}
}

// really is where a directory was found to lie.
func really(d permissions.Dir) string { return filepath.ToSlash(cmp.Or(d.Real, d.Path)) }

// settleTraits computes the traits that the contract leaves to the host, from
// what the call was found to touch, and what its input names of that.
func (c *call) settleTraits(m *matter, named []permissions.Access) {
	contract := c.tool.contract()
	c.traits.locked, c.traits.locks, c.traits.links = false, nil, nil
	if c.session().demoted(contract.Name) {
		c.traits.readOnly, c.traits.concurrencySafe = false, false
		return
	}
	c.settleLocks(named)
	if contract.ReadOnly == abi.TraitDerived {
		c.traits.readOnly = m.readOnly()
	}
	if contract.ConcurrencySafe == abi.TraitDerived {
		c.traits.concurrencySafe = m.readOnly() && m.stays(really(c.session().view().policy.Cwd()))
	}
	if contract.Destructive == abi.TraitDerived {
		c.traits.destructive = !m.readOnly()
	}
}

// readOnly reports whether all that is known to be touched is only read, and
// that is all there is.
func (m *matter) readOnly() bool {
	if len(m.accesses) == 0 {
		return false
	}
	for i := range m.commands {
		if !m.commands[i].ReadOnly {
			return false
		}
	}
	for _, a := range m.accesses {
		switch a.Kind {
		case permissions.AccessRead, permissions.AccessSession, permissions.AccessExec:
		default:
			return false
		}
	}
	return true
}

// stays reports whether no command leaves the session in another directory.
func (m *matter) stays(cwd string) bool {
	for i := range m.commands {
		if m.commands[i].Cwd != cwd {
			return false
		}
	}
	return true
}
