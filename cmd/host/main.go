// Command toolquay runs the tool calls of language models: whole turns or single
// calls, through WebAssembly plugins and behind permission rules.
//
// Each subcommand has a file of its own here. They take flags, put options
// together and print; what an embedding program would want as well is in the
// packages below host. All subcommands share the streams (app.go), the flags
// (flags.go), the opening of a host (open.go), printing (print.go) and exit codes (exit.go).
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins/extism"
)

// gcPercent lets the heap grow to 16 MiB before the first collection: most runs
// of the command end before that and need none.
const gcPercent = 400

func main() {
	host.Main(extism.New) // it does not return where this is a child of another toolquay
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, signals := interruptible(parentSpan(context.Background(), os.Getenv))
	a := &app{in: os.Stdin, signals: signals}
	a.out, a.err = ui.NewPrinters(os.Stdout, os.Stderr)
	signals.beforeExit(a.err.Abandon)
	err := rootCommand(a).ExecuteContext(ctx)
	signals.stop()
	if err != nil && err.Error() != "" {
		a.err.Printf("toolquay: %v\n", err)
	}
	os.Exit(exitCode(err))
}
