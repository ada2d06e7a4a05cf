package commands

import (
	"fmt"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/powershell"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// Analyse finds out what a command for a shell, [abi.ShellBash] or [abi.ShellPowerShell],
// would do at a place. It looks at no file. A command for another shell has a fault.
func Analyse(shellName, text string, at shell.Place) permissions.Command {
	switch shellName {
	case abi.ShellBash:
		return shell.Analyse(text, at)
	case abi.ShellPowerShell:
		return powershell.Analyse(text, powershell.Place{Cwd: at.Cwd, Home: at.Home, Working: at.Working})
	}
	return permissions.Command{Text: text, Fault: fmt.Sprintf("%q is no shell; there are %s and %s", shellName, abi.ShellBash, abi.ShellPowerShell)}
}
