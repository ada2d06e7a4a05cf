package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/message"
)

func callCommand(a *app) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON|@FILE|-]",
		Short: "Call one tool and print its result",
		Long: `Call calls one tool with the input given as JSON, from a file, or from standard
input; without one the input is {}. The result's text goes to standard output,
that of a call that failed to standard error (see toolquay help exit-codes), with
the last lines that its plugin logged. -v shows all of what plugins log as it comes:
log lines, standard output and error, panics, the stack of a trap.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return callTool(cmd.Context(), a, args[0], append(args, "{}")[1], f)
		},
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text, or json for the whole result")
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show what plugins log, and progress, on standard error")
	cmd.Flags().BoolVar(&f.staged, "stage", false, stageFlag)
	return cmd
}

// callFlags are the flags of call.
type callFlags struct {
	output          string
	verbose, staged bool
}

func callTool(ctx context.Context, a *app, tool, input string, f callFlags) error {
	output := f.output
	if output != "text" && output != "json" {
		return usageError("--output %q: there are text and json", output)
	}
	canonical, err := a.input(ctx, tool, input)
	if err != nil {
		return err
	}
	o, err := a.open(ctx, func(s *setup) {
		s.calls = true
		s.alone()
		stageWrites(a, &s.session, f.staged)
		s.session.Asker = a.asker(s, input != "-", approvals.Resume{})
	})
	if err != nil {
		return err
	}
	defer o.close()
	o.follow(ctx)
	o.warnBroken()
	log := &callLog{out: a.err, verbose: f.verbose}
	r := runOne(ctx, a, o, abi.ToolUse{ID: "call_1", Name: tool, Input: canonical}, log)
	if output == "json" {
		err = a.printJSON(message.NewRecord(*r))
	} else {
		err = a.printText(r)
		log.printLast(r)
	}
	if err != nil {
		return err
	}
	if code := signalCode(ctx); code != exitOK {
		return quiet(code)
	}
	return quiet(resultCode(r))
}

// runOne runs one call, and prints what hooks have to say to the person.
func runOne(ctx context.Context, a *app, o *opened, use abi.ToolUse, log *callLog) *abi.ToolResult {
	var result abi.ToolResult
	for e := range o.session.Run(ctx, []abi.ToolUse{use}) {
		log.take(&e)
		switch e.Kind {
		case host.EventMessage, host.EventStop:
			a.err.Block(ui.Yellow, string(e.Kind)+"  ", e.Reason)
		case host.EventResult:
			result = *e.Result
		}
	}
	return &result
}
