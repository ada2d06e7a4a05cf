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
		Use:   "call TOOL [JSON|@FILE|-] | --stdin TOOL",
		Short: "Call one tool and print its result",
		Long: `Call calls one tool with the input given as JSON, from a file, or from standard
input; without one the input is {}. The result's text goes to standard output,
that of a call that failed to standard error (see toolquay help exit-codes), with
the last lines that its plugin logged. -v shows all of what plugins log as it comes:
log lines, standard output and error, panics, the stack of a trap.

--stdin is for programs that call tools by a command, and take anything on standard
error for a failure: the input is on standard input, and nothing but failures is told
there. Gemini CLI is one; see toolquay help tools.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			input := append(args, "{}")[1]
			if f.stdin {
				if len(args) > 1 {
					return usageError("--stdin reads the input from standard input; leave out %q", input)
				}
				input = "-"
				if !cmd.Flags().Changed("log-level") {
					a.flags.logLevel = "error"
				}
			}
			return callTool(cmd.Context(), a, args[0], input, f)
		},
	}
	cmd.Flags().BoolVar(&f.stdin, "stdin", false, "read the input from standard input, and tell nothing but failures on standard error")
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text, or json for the whole result")
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show what plugins log, and progress, on standard error")
	cmd.Flags().BoolVar(&f.staged, "stage", false, stageFlag)
	return cmd
}

// callFlags are the flags of call.
type callFlags struct {
	output                 string
	verbose, staged, stdin bool
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
	o.warnBroken()
	o.warnLacking()
	use := abi.ToolUse{ID: "call_1", Name: tool, Input: canonical}
	o.awaitServers(ctx, use)
	log := &callLog{out: a.err, verbose: f.verbose, failuresOnly: f.stdin}
	r := runOne(ctx, a, o, use, log)
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
			if log.failuresOnly {
				continue
			}
			a.err.Block(ui.Yellow, string(e.Kind)+"  ", e.Reason)
		case host.EventResult:
			result = *e.Result
		}
	}
	return &result
}

// callLog is what plugins log during a call: shown as it comes, or kept until the call
// fails.
type callLog struct {
	out     *ui.Printer
	verbose bool
	// failuresOnly leaves out what is said of calls that succeed.
	failuresOnly bool
	tail         ui.Tail
}

// take takes in an event, if it is a log line or progress.
func (l *callLog) take(e *host.Event) {
	switch {
	case e.Kind == host.EventLog && e.Log != nil:
		style := ui.Dim
		if e.Log.Level == "error" || e.Log.Level == "warn" {
			style = ui.Yellow
		}
		l.say(style, e.Log.Level, e.Log.Message)
	case e.Kind == host.EventProgress && e.Progress != nil && l.verbose && e.Progress.Message != "":
		l.say(ui.Dim, "progress", e.Progress.Message)
	}
}

func (l *callLog) say(style ui.Style, what, text string) {
	if l.verbose {
		l.out.Block(style, what+"  ", text)
		return
	}
	l.tail.Add(text)
}

// printLast prints the last lines of a call that failed, unless all of them were shown.
func (l *callLog) printLast(r *abi.ToolResult) {
	lines, more := l.tail.Lines()
	if !r.IsError || len(lines) == 0 {
		return
	}
	title := "What it logged:"
	if more {
		title = "The last lines of its log (toolquay call -v shows all):"
	}
	l.out.Printf("\n%s\n", title)
	for _, line := range lines {
		l.out.Printf("  %s\n", line)
	}
}
