package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/cmd/host/internal/lines"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
)

func permissionsTestCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "test [FILE|-]",
		Short: "Judge tool calls by rules that come with them, as JSON Lines",
		Long: `Test reads a JSON object a line, a tool call with the rules to judge it by:

    {"rules": {"deny": ["Bash(rm *)"], "ask": [], "allow": []},
     "mode": "default", "tool": "Bash", "input": {"command": "rm x"},
     "cwd": "/ws/proj", "home": "/home/u", "expect": "deny"}

and answers each with a line:

    {"verdict": "deny", "layer": "rule", "rule": "Bash(rm *)",
     "source": "project", "reason": "...", "ok": true}

"layers" ({"policy": {...}, "project": {...}, "user": {...}}) stands for rules of
several sources, "hook" ({"permissionDecision": "ask"}) for what a hook says, and
"confined": true for a machine whose sandbox hides from searches what rules withhold.
Paths are taken by name: no file is looked at, and nothing is run. Rules and calls may
name a tool by its alias.

It ends with 1 where a line had another verdict than it expected or could not be
read; such a line is answered {"error": "..."}.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			failed := 0
			contracts, err := host.BuiltinTools()
			if err != nil {
				return hostError(err)
			}
			tools := lines.NewToolset(contracts)
			err = answerLines(cmd.Context(), a, args, func(in io.Reader, at host.CommandPlace) (err error) {
				failed, err = lines.Test(in, a.out, at, tools)
				return err
			})
			if err == nil && failed > 0 {
				err = &exitError{exitFailed, fmt.Errorf("%d lines failed", failed)}
			}
			return err
		},
	}
}

func permissionsClassifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "classify [FILE|-]",
		Short: "Say what shell commands would do, as JSON Lines",
		Long: `Classify reads a JSON object a line, {"command": "..."}, and answers each with

    {"read_only": true, "reason": "...", "accesses": [{"kind": "fs.read", ...}]}

"cwd" and "home" say where the command would run. Nothing is run, and no file is
looked at.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return answerLines(cmd.Context(), a, args, func(in io.Reader, at host.CommandPlace) error {
				return lines.Classify(in, a.out, at)
			})
		},
	}
}

// answerLines opens what is to be read line by line and has it answered.
func answerLines(ctx context.Context, a *app, args []string, answer func(io.Reader, host.CommandPlace) error) error {
	session, err := a.flags.sessionOptions()
	if err != nil {
		return err
	}
	in := a.in
	if len(args) == 1 && args[0] != "-" {
		if in, err = os.Open(args[0]); err != nil {
			return usageError("%w", err)
		}
		defer in.Close()
	}
	// Reading cannot be interrupted; closing what is read ends it.
	stop := context.AfterFunc(ctx, func() { _ = in.Close() })
	defer stop()
	home := filepath.ToSlash(filepath.Clean(config.UserDirs().Home))
	err = answer(in, host.CommandPlace{Cwd: filepath.ToSlash(session.Cwd), Home: home})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &exitError{signalCode(ctx), errors.New("interrupted")}
	}
	return hostError(err)
}
