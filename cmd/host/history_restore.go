package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
)

func historyRestoreCommand(a *app) *cobra.Command {
	var f selectFlags
	var o host.RestoreOptions
	cmd := &cobra.Command{
		Use:   "restore ID | --call ID | --file PATH | --all",
		Short: "Give files back what they were",
		Long: `Restore undoes one write, all writes of one call, all writes of one file or below one
directory, or all writes of the session. Files that were not there before are removed, and
so are directories that a command made, if nothing else lies in them.

All files are checked first: if one is not as the last of these writes left it, nothing is
restored. With --force it is restored even so, and its present content is kept in the
history first. A restore is recorded like other writes: to undo it, restore it.`,
		Args: cobra.MatchAll(cobra.MaximumNArgs(1), named),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			return withPast(a, func(p *past) error { return restoreHistory(cmd.Context(), a, p, f.selection(p, args), o) })
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "all that the session wrote")
	cmd.Flags().BoolVar(&o.Force, "force", false, "also files that were changed since; what they are is kept first")
	cmd.Flags().BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be done, and do nothing")
	return cmd
}

// check demands that what is to be restored is said, once.
func (f *selectFlags) check(args []string) error {
	chosen := len(args) > 0 || f.call != "" || f.file != ""
	switch {
	case !chosen && !f.all:
		return usageError("say what to restore: the ID of a write, --call, --file or --all; toolquay history list shows what was written")
	case chosen && f.all:
		return usageError("--all is everything; leave out what else chooses")
	}
	return nil
}

func restoreHistory(ctx context.Context, a *app, p *past, sel host.HistorySelection, o host.RestoreOptions) error {
	done, err := p.Restore(ctx, sel, o)
	var undo string
	for _, d := range done {
		a.out.Printf("%s\n", whatWasDone(p, &d, o.DryRun))
		undo = cmp.Or(d.Call, undo)
	}
	if conflicts, ok := errors.AsType[*host.RestoreConflictError](err); ok {
		return showConflicts(a, p, conflicts.Conflicts)
	}
	if err != nil {
		return historyError(p, sel, err)
	}
	switch {
	case len(done) == 0:
		a.out.Printf("Nothing of this was done, so that there is nothing to restore.\n")
	case undo != "":
		a.out.Printf("To undo this, restore again: toolquay history restore --call %s --session %s\n", undo, p.session)
	}
	return nil
}

func whatWasDone(p *past, d *host.Restored, dry bool) string {
	name := p.name(d.Path)
	switch {
	case d.Filled:
		return name + " stays, because something else lies in it"
	case d.Lost:
		return name + " stays as it is: its former content is not kept, or its present content cannot be"
	case d.Same && d.To == nil:
		return name + " is not there already, as before"
	case d.Same:
		return name + " already is what it was before"
	case dry && d.To == nil:
		return "would remove " + name
	case dry:
		return "would restore " + name
	case d.To == nil:
		return d.ID + ": removed " + name
	}
	return d.ID + ": restored " + name
}

// showConflicts prints all conflicts.
func showConflicts(a *app, p *past, list []host.RestoreConflict) error {
	force := false
	for _, c := range list {
		a.err.Printf("toolquay: %s: %s\n", p.name(c.Path), c.Why)
		force = force || c.Forceable
	}
	advice := "resolve these conflicts, or restore other files by their names (--file)"
	if force {
		advice = "restore what came later first, or restore with --force: what is there now is then kept in the history, and can be restored as well"
	}
	return &exitError{exitFailed, errors.New("nothing was restored; " + advice)}
}
