package host

import (
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// These types are settings of [Shell].
type (
	// SandboxMode says when commands run in a sandbox.
	SandboxMode = sandbox.Mode
	// SandboxNetwork is what commands in a sandbox reach.
	SandboxNetwork = sandbox.Network
	// SandboxReport describes the sandbox that this machine offers.
	SandboxReport = sandbox.Report
	// CommandLimits bound what one command uses; a limit of 0 is none.
	CommandLimits = process.Limits
	// CommandAtLimit says what happens to a command at its time limit.
	CommandAtLimit = shell.AtLimit
)

// The modes of the sandbox: none, one if the machine offers one, and no command without one.
const (
	SandboxOff           = sandbox.Off
	SandboxWhenAvailable = sandbox.WhenAvailable
	SandboxRequired      = sandbox.Required
)

// The networks of the sandbox: a loopback of its own, all of the machine's network, and
// single hosts through a proxy.
const (
	NetworkOff   = sandbox.NetworkOff
	NetworkAll   = sandbox.NetworkAll
	NetworkHosts = sandbox.NetworkHosts
)

// What happens to a command at its time limit: it moves to the background, or it is ended.
const (
	AtLimitBackground = shell.LimitBackground
	AtLimitKill       = shell.LimitKill
)

// ChooseSandbox says whether a mode has commands run in the sandbox of a report, with a
// warning for people. The error refuses all commands.
func ChooseSandbox(mode SandboxMode, r SandboxReport) (use bool, warning string, err error) {
	return sandbox.Choose(mode, r)
}

// FindShell finds the program of a shell, [abi.ShellBash] or [abi.ShellPowerShell]: the
// given one, or the one that the system has. It is what commands run with.
func FindShell(shellName, given string) (string, error) { return shell.Look(shellName, given) }
