package host

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox/proxy"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/worker"
)

// The arguments with which the program starts itself inside the sandbox of a command.
const (
	// bridgeArgument takes SOCKET COMMAND... and connects the command to the proxy.
	bridgeArgument = "toolquay-inside-bridge"
	// confineArgument takes COMMAND... and runs it without Unix sockets.
	confineArgument = "toolquay-inside-confine"
)

// exitNotStarted is the status of a command that could not be started, as shells report it.
const exitNotStarted = 126

// ownRunners are those that [Main] was given; nil where it was not called.
var ownRunners atomic.Pointer[[]plugins.RunnerFunc]

// Main runs this process in the role for which the host started the program again: as
// the supervisor of commands, inside the sandbox of one, or as a worker that compiles a
// module or runs a plugin (see [PluginOptions.Workers]). In such a process it does not return.
// Otherwise it does nothing but remember the runners. Call it first in main, before flags
// are read and before anything is started.
//
// The runners are for ABIs beyond the direct one, such as extism.New of package
// plugins/extism. Workers run plugins with them, and so does each host with workers.
func Main(runners ...plugins.RunnerFunc) {
	ownRunners.Store(&runners)
	if len(os.Args) > 1 {
		inside(os.Args[1], os.Args[2:])
	}
	process.Main()
	worker.Main(runners...)
}

// inside does what the program is started for inside a sandbox, and does not return then.
func inside(role string, args []string) {
	switch {
	case role == bridgeArgument && len(args) > 1:
		status, err := proxy.Bridge(context.Background(), args[0], args[1:])
		complain(err)
		os.Exit(status)
	case role == confineArgument && len(args) > 0:
		complain(sandbox.Exec(args, os.Environ()))
		os.Exit(exitNotStarted)
	}
}

func complain(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "toolquay: inside the sandbox: %v\n", err)
	}
}

// insideCommands are the commands with which the program starts itself inside a sandbox.
// Both are nil in a program that did not call [Main], or whose file is not known.
func insideCommands() (bridge, confine []string) {
	self, err := os.Executable()
	if err != nil || ownRunners.Load() == nil {
		return nil, nil
	}
	return []string{self, bridgeArgument}, []string{self, confineArgument}
}
