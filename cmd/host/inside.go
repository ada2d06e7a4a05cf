package main

import (
	"context"
	"fmt"
	"os"

	"github.com/toolquay/toolquay/host/sandbox"
	"github.com/toolquay/toolquay/host/sandbox/proxy"
)

// The arguments that toolquay starts itself with inside the sandbox of a command.
const (
	// bridgeArgument: SOCKET COMMAND..., which leads the command to the proxy.
	bridgeArgument = "inside-bridge"
	// confineArgument: COMMAND..., which goes on without Unix sockets.
	confineArgument = "inside-confine"
)

// inside does what toolquay is started for inside a sandbox, and does not return then.
// It comes before everything else, as a command waits for it.
func inside() {
	if len(os.Args) < 2 {
		return
	}
	switch args := os.Args[2:]; {
	case os.Args[1] == bridgeArgument && len(args) > 1:
		status, err := proxy.Bridge(context.Background(), args[0], args[1:])
		complain(err)
		os.Exit(status)
	case os.Args[1] == confineArgument && len(args) > 0:
		complain(sandbox.Exec(args, os.Environ()))
		os.Exit(exitInside)
	}
}

// exitInside is the status of a command that could not be started, as shells have it.
const exitInside = 126

func complain(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "toolquay: inside the sandbox: %v\n", err)
	}
}
