package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
)

func stageApplyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "apply [FILE...]",
		Short: "Write what is staged to the disk: all of it, some files, or what is below a directory",
		Long: `Apply checks all files first. If one of them was changed on the disk since it was first
staged, or cannot be written, nothing is applied: see what changed with toolquay stage
diff, apply the other files by their names, and discard those that must be written again.
Devices and sockets cannot be applied. While a command of the session runs, nothing is
applied.

Each file is replaced in one step, and its former content is kept in the session's
history: toolquay history restore undoes an apply. If an apply fails or is interrupted
midway, the files that were not written are still staged; apply again.

A directory that was removed or replaced as a whole is applied as a whole.`,
		Args: named,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStages(a, func(p *stages) error { return applyStaged(cmd.Context(), a, p, args) })
		},
	}
}

func applyStaged(ctx context.Context, a *app, p *stages, args []string) error {
	sel, err := p.selection(args)
	if err != nil {
		return err
	}
	done, err := p.Apply(ctx, sel)
	var undo string
	for _, d := range done {
		switch {
		case d.Same:
			a.out.Printf("%s already is as staged\n", p.name(d.Path))
		case d.Created:
			a.out.Printf("made %s\n", p.name(d.Path))
		case d.Removed:
			a.out.Printf("removed %s\n", p.name(d.Path))
		default:
			a.out.Printf("wrote %s\n", p.name(d.Path))
		}
		for _, note := range d.Notes {
			a.err.Printf("toolquay: %s: %s\n", p.name(d.Path), note)
		}
		if d.History != "" {
			undo = cmp.Or(undo, d.Call)
		}
	}
	if undo != "" {
		a.out.Printf("To undo this: toolquay history restore --call %s --session %s\n", undo, p.session)
	}
	if conflicts, ok := errors.AsType[*host.ApplyConflictError](err); ok {
		for _, c := range conflicts.Conflicts {
			a.err.Printf("toolquay: %s: %s\n", p.name(c.Path), c.Why)
		}
		return &exitError{exitFailed, errors.New("nothing was applied; resolve these conflicts and apply again, apply the other files by their names, or discard these; toolquay stage diff shows what applying would change")}
	}
	if err != nil && len(done) > 0 {
		a.err.Printf("toolquay: what is not listed above was not applied, and is still staged\n")
	}
	return p.failed(args, err)
}

func stageDiscardCommand(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "discard FILE... | --all",
		Short: "Forget what is staged: some files, what is below a directory, or all of it",
		Long: `Discard removes what is staged for good; nothing on the disk changes. With --all it also
removes a damaged stage. While a command of the session runs, nothing is discarded.`,
		Args: named,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := chosen(args, all); err != nil {
				return err
			}
			return withStages(a, func(p *stages) error { return discardStaged(cmd.Context(), a, p, args) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all that the session staged")
	return cmd
}

func discardStaged(ctx context.Context, a *app, p *stages, args []string) error {
	sel, err := p.selection(args)
	if err != nil {
		return err
	}
	gone, err := p.Discard(ctx, sel)
	for i := range gone {
		a.out.Printf("discarded %s\n", p.name(gone[i].Path))
	}
	return p.failed(args, err)
}

// chosen fails unless the arguments name files or say all, but not both.
func chosen(args []string, all bool) error {
	switch {
	case len(args) == 0 && !all:
		return usageError("say what to discard: files, directories, or --all; toolquay stage list shows what is staged")
	case len(args) > 0 && all:
		return usageError("--all is everything; leave out the files")
	}
	return nil
}
