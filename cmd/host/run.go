package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
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
` + helpStream,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runAny(cmd.Context(), append(args, "-")[0], f)
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
	return cmd
}

// runAny runs a message that is there, or one that comes.
func (a *app) runAny(ctx context.Context, file string, f runFlags) error {
	switch {
	case f.output != "" && !slices.Contains(message.Formats(), message.Format(f.output)):
		return usageError("--output %q: write %s", f.output, formatsOf(message.Formats()))
	case f.stream:
		f.input = cmp.Or(f.input, string(stream.JSONL))
		return a.stream(ctx, file, f)
	case f.input != "":
		return usageError("--input goes with --stream; of a message that is complete the form is found out")
	case f.logs:
		return usageError("--logs goes with --stream; --verbose shows what tools log while a message runs")
	}
	return a.run(ctx, file, f)
}

func (a *app) run(ctx context.Context, file string, f runFlags) error {
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
	o, err := a.open(ctx, func(s *setup) {
		s.calls = true
		s.alone()
		a.staged(&s.session, f.staged)
		s.message = append(s.message, messageRules(file, s.session.Cwd, m.Settings))
		s.session.Asker = a.asker(s, file != "-", approvals.Resume{Format: output})
	})
	if err != nil {
		return err
	}
	defer o.close()
	o.follow(ctx)
	o.warnBroken()
	results, err := a.turn(ctx, o, m.Calls, output, f)
	if err != nil {
		return err
	}
	return quiet(runCode(ctx, results, f.fail))
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

// turn runs the calls and prints what happens and the reply.
func (a *app) turn(ctx context.Context, o *opened, calls []abi.ToolUse, output message.Format, f runFlags) ([]abi.ToolResult, error) {
	timeline := ui.NewTimeline(a.err, f.verbose)
	timeline.Describe(o.contract)
	var results turnResults
	for e := range o.session.Run(ctx, calls) {
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
	for i := range results.records {
		if err := a.printJSON(results.records[i]); err != nil {
			return results.list, err
		}
	}
	return results.list, nil
}

// contract finds a tool's contract by its name, or returns nil.
func (o *opened) contract(name string) *abi.Tool {
	if tool, ok := o.host.Plugins().Tool(name); ok {
		return tool.Tool
	}
	return nil
}

// turnResults are a turn's results as the model is to get them: at its end some may
// give way to shorter ones, so none is printed before.
type turnResults struct {
	recorder message.Recorder
	records  []message.Record
	list     []abi.ToolResult
}

func (r *turnResults) add(e host.Event) {
	record, ok := r.recorder.Add(e)
	if !ok {
		return
	}
	if e.Kind == host.EventResult {
		r.records, r.list = append(r.records, record), append(r.list, *e.Result)
		return
	}
	if e.Index < len(r.list) {
		r.records[e.Index], r.list[e.Index] = record, *e.Result
	}
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

// printJSON prints a document to standard output, with every character that
// does not show as itself escaped; indented where a person reads it.
func (a *app) printJSON(v any) error {
	indent := ""
	if a.out.Terminal {
		indent = strings.Repeat(" ", 2)
	}
	return a.printIndented(v, indent)
}

// printLine prints a document in one line, and one write.
func (a *app) printLine(v any) error { return a.printIndented(v, "") }

func (a *app) printIndented(v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	if err == nil {
		_, err = a.out.Write(ui.JSON(b.Bytes()))
	}
	if err != nil {
		return hostError(fmt.Errorf("writing the output: %w", err))
	}
	return nil
}
