package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
)

func stageDiffCommand(a *app) *cobra.Command {
	var relativeTo string
	cmd := &cobra.Command{
		Use:   "diff [FILE...]",
		Short: "Show what applying would change, as a patch that git apply takes",
		Long: `Diff shows what is staged as one patch to what the files now are, as git writes it: with
a/ and b/ before the names, and odd names in quotes. Git apply takes it in the
directory that it is relative to; so does patch -p1, but for binary files. A terminal
is shown files elsewhere too.

    toolquay stage diff >staged.patch
    git apply staged.patch

What the patch cannot show, such as an empty directory, is named on standard error. So are
files that something else changed since they were staged, which apply refuses. In both
cases the command ends with 1. Files that already are as staged are named too.`,
		Args: named,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStages(a, func(p *stages) error { return diffStaged(cmd.Context(), a, p, args, relativeTo) })
		},
	}
	cmd.Flags().StringVar(&relativeTo, "relative-to", ".", "the directory that names are relative to")
	return cmd
}

func diffStaged(ctx context.Context, a *app, p *stages, args []string, relativeTo string) error {
	dir, err := here(p.cwd, relativeTo)
	if err != nil {
		return err
	}
	sel, err := p.selection(args)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	notes, err := p.Patch(ctx, &text, sel, host.PatchOptions{Dir: dir, Outside: a.out.Terminal})
	if err != nil {
		return p.failed(args, err)
	}
	if !a.out.Terminal {
		if _, err := a.out.Write(text.Bytes()); err != nil { // programs get the bytes as they are
			return hostError(err)
		}
		return showNotes(a, p, notes)
	}
	for line := range strings.Lines(text.String()) {
		a.out.Whole(ui.Span{Style: diffStyle(line), Text: strings.TrimSuffix(line, "\n")})
	}
	return showNotes(a, p, notes)
}

// showNotes tells what a patch does not, and has the command say so.
func showNotes(a *app, p *stages, notes []host.StageNote) error {
	failed := false
	for _, n := range notes {
		lead := "apply refuses it"
		switch {
		case n.Same:
			lead = "nothing to show"
		case n.Left:
			lead = "left out"
		}
		failed = failed || !n.Same
		a.err.Printf("toolquay: %s: %s: %s\n", lead, p.name(n.Path), n.Why)
	}
	if failed {
		return quiet(exitFailed)
	}
	return nil
}
