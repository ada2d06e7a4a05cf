package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/host/message/stream"
	"github.com/toolquay/toolquay/permissions"
)

type runFlags struct {
	output         string
	quiet, verbose bool
	fail           bool
	stream         bool
	input          string
	staged         bool
	logs           bool
	schema         outputSchema
}

func runCommand(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [FILE|-]",
		Short: "Run the tool calls of a model's message and print the reply",
		Long: `Run reads one message of a model and runs its tool calls: an Anthropic message
with tool_use blocks, an OpenAI message with tool_calls, the function_call items of
OpenAI Responses, a Gemini content with functionCall parts, a whole response of one
of these APIs, or a plain list [{"name": "Read", "input": {...}}]. The reply, as that
API wants it, goes to standard output; what happens meanwhile to standard
error.

A message may carry "settings": {"permissions": {"deny": [...], "ask": [...]}}
beside its content. It is a model's word, so it can tighten and nothing else.

A call that fails is a result for the model, so run ends with 0 where every
call has its result; with --fail it tells (see toolquay help exit-codes).

With --output-schema the tool StructuredOutput is offered, whose input must fit the
JSON Schema in that file. The last input that fits is the output: a line of the
type output, and with --stream the output of the turn's done line. Without any, run
ends with 6.
` + helpStream,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAny(cmd.Context(), a, append(args, "-")[0], f)
		},
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", formatsOf(message.Formats())+" (default: as the input)")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "show nothing on standard error while calls run")
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show capability calls, logs and progress too")
	cmd.Flags().BoolVar(&f.fail, "fail", false, "end with 1 where a call failed, with 4 where one was denied")
	cmd.Flags().BoolVar(&f.stream, "stream", false, "run calls as they come, while the model still writes")
	cmd.Flags().StringVar(&f.input, "input", "", "with --stream: jsonl, anthropic-sse or openai-sse (default: jsonl)")
	cmd.Flags().BoolVar(&f.logs, "logs", false, "with --stream: write what tools log as lines of the type log")
	cmd.Flags().BoolVar(&f.staged, "stage", false, stageFlag)
	f.schema.register(cmd)
	return cmd
}

// runAny runs a message that is there, or one that comes.
func runAny(ctx context.Context, a *app, file string, f runFlags) error {
	switch {
	case f.output != "" && !slices.Contains(message.Formats(), message.Format(f.output)):
		return usageError("--output %q: write %s", f.output, formatsOf(message.Formats()))
	case f.stream:
		f.input = cmp.Or(f.input, string(stream.JSONL))
		return runStream(ctx, a, file, f)
	case f.input != "":
		return usageError("--input goes with --stream; of a message that is complete the form is found out")
	case f.logs:
		return usageError("--logs goes with --stream; --verbose shows what tools log while a message runs")
	}
	return runMessage(ctx, a, file, f)
}

func runMessage(ctx context.Context, a *app, file string, f runFlags) error {
	output := message.Format(f.output)
	src, err := a.read(ctx, file, message.MaxSize)
	if err != nil {
		return err
	}
	m, err := message.Parse(src)
	if errors.Is(err, message.ErrNoCalls) {
		return &exitError{exitNoCalls, fmt.Errorf("%s: %w", file, err)}
	}
	if err != nil {
		return usageError("%s: %w", file, err)
	}
	if output == "" {
		output = m.Format
	}
	schema, err := f.schema.read(ctx, a)
	if err != nil {
		return err
	}
	o, err := a.open(ctx, func(s *setup) {
		s.calls = true
		s.alone()
		s.session.OutputSchema = schema
		stageWrites(a, &s.session, f.staged)
		s.message = append(s.message, messageRules(file, s.session.Cwd, m.Settings))
		s.session.Asker = a.asker(s, file != "-", approvals.Resume{Format: output})
	})
	if err != nil {
		return err
	}
	defer o.close()
	o.warnBroken()
	o.warnLacking()
	o.awaitServers(ctx, m.Calls...)
	results, err := runTurn(ctx, a, o, m.Calls, output, f)
	if err != nil {
		return err
	}
	if code := runCode(ctx, results, f.fail); code != exitOK {
		return quiet(code)
	}
	return f.schema.missing(o.session)
}

// messageRules are the rules that came with a message.
func messageRules(file, cwd string, s message.Settings) permissions.RuleSet {
	if file == "-" {
		file = "standard input"
	}
	resolved, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		resolved = cwd
	}
	return permissions.RuleSet{
		Source: permissions.SourceSession,
		File:   file,
		Folder: permissions.Dir{Path: cwd, Real: resolved},
		Deny:   permissions.RuleTexts(s.Deny...),
		Ask:    permissions.RuleTexts(s.Ask...),
	}
}

// runTurn runs the calls and prints what happens and the reply.
func runTurn(ctx context.Context, a *app, o *opened, calls []abi.ToolUse, output message.Format, f runFlags) ([]abi.ToolResult, error) {
	timeline := ui.NewTimeline(a.err, f.verbose)
	timeline.Describe(o.contract)
	keys, end := a.watchKeys(ctx, o.session)
	defer end()
	var results turnResults
	for e := range o.session.Run(ctx, calls) {
		keys.event(e)
		if !f.quiet {
			timeline.Event(e)
		}
		results.add(e)
	}
	if !f.quiet {
		timeline.End()
	}
	if output != message.List {
		reply, err := message.Reply(output, calls, results.list)
		if err != nil {
			return results.list, hostError(err)
		}
		return results.list, a.printJSON(reply)
	}
	return results.list, printEach(a, results.records)
}

// runCode is the exit code of a turn that gave its results.
func runCode(ctx context.Context, results []abi.ToolResult, fail bool) int {
	if code := signalCode(ctx); code != exitOK || !fail {
		return code
	}
	code := exitOK
	for i := range results {
		code = worseCode(code, resultCode(&results[i]))
	}
	return code
}
