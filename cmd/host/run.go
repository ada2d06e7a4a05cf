package main

import (
	"bytes"
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
	"github.com/toolquay/toolquay/permissions"
)

type runFlags struct {
	output         string
	quiet, verbose bool
	fail           bool
}

func runCommand(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [FILE|-]",
		Short: "Run the tool calls of a model's message and print the reply",
		Long: `Run reads one message of a model and runs its tool calls: an Anthropic message
with tool_use blocks, an OpenAI message with tool_calls, a whole response of
either API, or a plain list [{"name": "Read", "input": {...}}]. The reply, as
that API wants it, goes to standard output; what happens meanwhile to standard
error.

A message may carry "settings": {"permissions": {"deny": [...], "ask": [...]}}
beside its content. It is a model's word, so it can tighten and nothing else.

A call that fails is a result for the model, so run ends with 0 where every
call has its result; with --fail it tells (see toolquay help exit-codes).`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), append(args, "-")[0], f)
		},
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "anthropic, openai or jsonl (default: as the input)")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "show nothing on standard error while calls run")
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show capability calls, logs and progress too")
	cmd.Flags().BoolVar(&f.fail, "fail", false, "end with 1 where a call failed, with 4 where one was denied")
	return cmd
}

func (a *app) run(ctx context.Context, file string, f runFlags) error {
	output := message.Format(f.output)
	if f.output != "" && !slices.Contains(message.Formats(), output) {
		return usageError("--output %q: there are %v", f.output, message.Formats())
	}
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
		s.message = append(s.message, messageRules(file, s.session.Cwd, m.Settings))
		s.session.Asker = a.asker(s, file != "-", approvals.Resume{Format: output})
	})
	if err != nil {
		return err
	}
	defer o.close()
	o.follow(ctx)
	o.warnBroken()
	results, err := a.turn(ctx, o.session, m.Calls, output, f)
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
func (a *app) turn(ctx context.Context, s *host.Session, calls []abi.ToolUse, output message.Format, f runFlags) ([]abi.ToolResult, error) {
	timeline := ui.NewTimeline(a.err, f.verbose)
	var recorder message.Recorder
	var failed error
	results := make([]abi.ToolResult, 0, len(calls))
	for e := range s.Run(ctx, calls) {
		if !f.quiet {
			timeline.Event(e)
		}
		if e.Kind == host.EventResult {
			results = append(results, *e.Result)
		}
		if record, ok := recorder.Add(e); ok && output == message.List && failed == nil {
			failed = a.printJSON(record)
		}
	}
	if !f.quiet {
		timeline.End()
	}
	if output == message.List || failed != nil {
		return results, failed
	}
	reply, err := message.Reply(output, results)
	if err != nil {
		return results, hostError(err)
	}
	return results, a.printJSON(reply)
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
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if a.out.Terminal {
		e.SetIndent("", strings.Repeat(" ", 2))
	}
	err := e.Encode(v)
	if err == nil {
		_, err = a.out.Write(ui.JSON(b.Bytes()))
	}
	if err != nil {
		return hostError(fmt.Errorf("writing the output: %w", err))
	}
	return nil
}
