package host

import (
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// CommandPlace is where a command would run: Cwd and Home, absolute, clean and with slashes
// (Home is empty if unknown), Working, further directories that cd may enter, and Repository,
// which tells what git reads, for bash only. In a place that is not so the command asks or is
// denied.
type CommandPlace = shell.Place

// AnalyseCommand finds out what a command for a shell, [abi.ShellBash] or
// [abi.ShellPowerShell], would do, as the host does before it judges one. It goes by the text
// alone: nothing is run, no file is read, and links are not followed. A bash command that
// cannot be parsed has a Fault, as has a command for another shell. A PowerShell command that
// is not understood has a part that is neither ReadOnly nor Complete.
//
// To judge the command, call its Resolve, and put it and its Accesses in a
// [permissions.Request] with [permissions.EffectsListed]. A session's Policy says how the
// session would judge it.
func AnalyseCommand(shellName, text string, at CommandPlace) permissions.Command {
	return commands.Analyse(shellName, text, at)
}
