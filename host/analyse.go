package host

import (
	"github.com/toolquay/toolquay/host/internal/commands"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// CommandPlace is where a command would run.
type CommandPlace = shell.Place

// AnalyseCommand finds out what a command for a shell, [abi.ShellBash] or
// [abi.ShellPowerShell], would do, as the host does before it judges one. Nothing is run and
// no file is looked at: paths are taken by name. A command that cannot be understood, or is
// for another shell, has a Fault.
//
// To judge the command, call its Resolve, and put it and its Accesses in a
// [permissions.Request]. A session's Policy says how the session would judge it.
func AnalyseCommand(shellName, text string, at CommandPlace) permissions.Command {
	return commands.Analyse(shellName, text, at)
}
