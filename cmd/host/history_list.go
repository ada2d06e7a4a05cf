package main

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
)

func historyListCommand(a *app) *cobra.Command {
	var f selectFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what was written, the oldest first",
		Long: `List shows each write of the session and its state, as the file and later writes tell:
  done            the write was done
  not done        the host ended before it, or it is being done right now
  changed since   something else changed the file afterwards, so that the content that
                  the write left is not known
  running         the command that made the change still runs

What a command changed is listed file by file under its call. "Not complete" says what is
not kept of it, and why: directories such as node_modules (history_except below [sessions]
in the settings), files over 64 MiB, or all changes of a command that ran without a
sandbox that can report them.

With --json it prints one object per line:
  id              h1, h2 and so on; empty while the command still runs
  kind            "write", "restore" or "command"
  time            when it was recorded
  call, tool      the call that made the change, and its tool
  of              what was restored, for "restore"
  path            the absolute path; absent in an object with "gaps"
  before, after   what was there, and what is: as in toolquay stage list --json
  gaps            what is not kept of the changes of a command
  watch           the same for all changes of one command
  state           the state, as above
  kept            whether the former content can still be restored`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPast(a, func(p *past) error { return listHistory(cmd.Context(), a, p, f.selection(p, nil), asJSON) })
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	return cmd
}

func listHistory(ctx context.Context, a *app, p *past, sel host.HistorySelection, asJSON bool) error {
	changes, err := p.List(ctx, sel)
	if err == nil {
		err = warnDamaged(a, p)
	}
	if err != nil {
		return hostError(err)
	}
	if asJSON {
		return printEach(a, changes)
	}
	if len(changes) == 0 {
		a.out.Printf("The session %s wrote no such file.\n", p.session)
		return nil
	}
	rows := [][]string{{"ID", "TIME", "BY", "CALL", "FILE", "BYTES", "STATE"}}
	for i := range changes {
		c := &changes[i]
		file, what, fate := p.name(c.Path), becomes(c.Before, c.After), fateOf(c)
		if c.Gaps != "" {
			file, what, fate = "-", "", "not complete: "+c.Gaps
		}
		rows = append(rows, []string{c.ID, c.Time.Local().Format(time.DateTime), writtenBy(c), c.Call, file, what, fate})
	}
	a.out.Printf("Session %s\n", p.session)
	a.out.Table(rows)
	return nil
}

func writtenBy(c *host.HistoryChange) string {
	if c.Kind == host.HistoryRestore {
		return "restore of " + c.Of
	}
	return c.Tool
}

func fateOf(c *host.HistoryChange) string {
	if !c.Kept {
		return string(c.State) + ", content no longer kept"
	}
	return string(c.State)
}

func historyShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show one write: what is known of it, and what it changed",
		Args:  cobra.MatchAll(cobra.ExactArgs(1), named),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPast(a, func(p *past) error { return showWrite(cmd.Context(), a, p, args[0]) })
		},
	}
}

func showWrite(ctx context.Context, a *app, p *past, id string) error {
	sel := host.HistorySelection{ID: id}
	changes, err := p.List(ctx, sel)
	if err != nil {
		return hostError(err)
	}
	if len(changes) != 1 {
		return noSuchWrite(p, sel)
	}
	c := &changes[0]
	for _, row := range [][2]string{
		{"file", c.Path}, {"time", c.Time.Local().Format(time.RFC3339)}, {"by", writtenBy(c)}, {"call", c.Call},
		{"bytes", becomes(c.Before, c.After)}, {"state", fateOf(c)},
	} {
		if row[1] != "" {
			a.out.Whole(ui.Span{Style: ui.Bold, Text: pad(row[0], 6)}, ui.Span{Text: row[1]})
		}
	}
	if c.State == host.HistoryNotDone {
		return nil
	}
	return showDiff(ctx, a, p, sel)
}

func historyDiffCommand(a *app) *cobra.Command {
	var f selectFlags
	cmd := &cobra.Command{
		Use:   "diff [ID]",
		Short: "Show what was changed: by one write, by a call, of a file, or by all of the session",
		Long: `Diff shows what was changed for people to read, as git does. Names begin in the working
directory, and those of files elsewhere at the root. What git apply takes is printed by
toolquay history patch.`,
		Args: cobra.MatchAll(cobra.MaximumNArgs(1), named),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPast(a, func(p *past) error { return showDiff(cmd.Context(), a, p, f.selection(p, args)) })
		},
	}
	f.register(cmd)
	return cmd
}

func showDiff(ctx context.Context, a *app, p *past, sel host.HistorySelection) error {
	var text bytes.Buffer
	left, err := p.Patch(ctx, &text, sel, host.PatchOptions{Dir: p.cwd, Outside: true})
	if err != nil {
		return historyError(p, sel, err)
	}
	for line := range strings.Lines(text.String()) {
		a.out.Whole(ui.Span{Style: diffStyle(line), Text: strings.TrimSuffix(line, "\n")})
	}
	return warnLeftOut(a, left)
}

func diffStyle(line string) ui.Style {
	switch {
	case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff "):
		return ui.Bold
	case strings.HasPrefix(line, "+"):
		return ui.Green
	case strings.HasPrefix(line, "-"):
		return ui.Red
	case strings.HasPrefix(line, "@@"):
		return ui.Cyan
	}
	return ui.Plain
}

// warnLeftOut warns of files that are not shown, and returns the error of a command that left
// some out.
func warnLeftOut(a *app, left []host.PatchOmission) error {
	for _, l := range left {
		a.err.Printf("toolquay: left out: %s: %s\n", l.Path, l.Why)
	}
	if len(left) > 0 {
		return quiet(exitFailed)
	}
	return nil
}

func historyPatchCommand(a *app) *cobra.Command {
	var f selectFlags
	var relativeTo string
	cmd := &cobra.Command{
		Use:   "patch [ID]",
		Short: "Print what was changed as one patch that git apply takes",
		Long: `Patch prints what the session changed, or one write, one call, or one file of it,
as a patch: each file as it was before the first write and after the last. It is as git
writes it, with a/ and b/ before the names, and odd names in quotes. Git apply takes it
in the directory that it is relative to, and git apply -R takes it back; so does
patch -p1, but for binary files.

    toolquay history patch --session ID >session.patch
    git apply -R session.patch

Files that it cannot tell of are named on standard error, and the command ends with
1: those outside of the directory, those over 64 MiB, and those that something else
changed after the last write, so that what it left is kept nowhere.`,
		Args: cobra.MatchAll(cobra.MaximumNArgs(1), named),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPast(a, func(p *past) error { return printPatch(cmd.Context(), a, p, f.selection(p, args), relativeTo) })
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&relativeTo, "relative-to", ".", "the directory that names are relative to")
	return cmd
}

func printPatch(ctx context.Context, a *app, p *past, sel host.HistorySelection, relativeTo string) error {
	dir, err := here(p.cwd, relativeTo)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	left, err := p.Patch(ctx, &text, sel, host.PatchOptions{Dir: dir})
	if err != nil {
		return historyError(p, sel, err)
	}
	if a.out.Terminal {
		a.out.Printf("%s", text.String())
	} else if _, err := a.out.Write(text.Bytes()); err != nil { // programs get the bytes as they are
		return hostError(err)
	}
	return warnLeftOut(a, left)
}

// warnDamaged warns of records that cannot be read.
func warnDamaged(a *app, p *past) error {
	_, damaged, err := p.Records()
	if err == nil && damaged > 0 {
		a.err.Printf("toolquay: %s of the history cannot be read; the others are as they were written\n", count(damaged, "line"))
	}
	return hostError(err)
}
