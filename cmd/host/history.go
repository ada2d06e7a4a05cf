package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
)

// latest stands for the session whose history changed last.
const latest = "latest"

func historyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "See what a session's tools wrote, and undo it",
		Long: `Before a tool writes a file, what the file was is kept in the session's folder.
History lists what was written, shows it as a diff or as one patch that git apply
takes, and gives files back what they were. Restoring is recorded as well, so that
it can be undone in the same way. It works while the session goes on.

    toolquay history list                       of the session that wrote last
    toolquay history diff h3                    one write
    toolquay history restore --call toolu_01    what one call wrote
    toolquay history restore --all --dry-run    what undoing all of it would do
    toolquay history patch --session ID >session.patch

How much is kept, and for how long, is in the settings below [sessions].`,
		Args: cobra.NoArgs,
		RunE: help,
	}
	cmd.AddCommand(
		historyListCommand(a), historySessionsCommand(a), historyShowCommand(a), historyDiffCommand(a),
		historyPatchCommand(a), historyRestoreCommand(a),
	)
	return cmd
}

// past is the history of the session that is asked about.
type past struct {
	*host.History
	session string
	// cwd is where names of files begin, with links resolved.
	cwd string
}

// past opens the history of the session that the flags name.
func (a *app) past() (*past, error) {
	s, err := a.setup()
	if err != nil {
		return nil, err
	}
	found, err := host.Histories(s.options.Storage.Sessions)
	if err != nil {
		return nil, hostError(err)
	}
	cwd, err := filepath.EvalSymlinks(s.session.Cwd)
	if err != nil {
		return nil, hostError(err)
	}
	options := s.options.Storage.History
	options.Logger = s.options.Observe.Logger
	wanted := cmp.Or(a.flags.session, latest)
	for _, one := range found {
		if one.ID == wanted || wanted == latest {
			return &past{host.OpenHistory(one.Dir, options), one.ID, cwd}, nil
		}
	}
	if wanted == latest {
		return nil, usageError("no session has a history yet: none wrote a file, or it is switched off in the settings")
	}
	return nil, usageError("the session %q has no history; toolquay history sessions lists those that have", wanted)
}

// done closes a history, after what was done with it.
func (p *past) done(err error) error {
	if failed := p.Close(); err == nil {
		return hostError(failed)
	}
	return err
}

// name is how a file is shown: from the working directory, if it is below it.
func (p *past) name(path string) string {
	if rel, err := filepath.Rel(p.cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// selectFlags choose writes.
type selectFlags struct {
	call, file string
	all        bool
}

func (f *selectFlags) register(cmd *cobra.Command) {
	cmd.Flags().Var((*choice)(&f.call), "call", "what the call with this id wrote")
	cmd.Flags().Var((*choice)(&f.file), "file", "what was written to this file, or below this directory")
}

// choice is the value of a flag that chooses something. An empty one, because a variable
// was, would choose everything.
type choice string

// Set refuses what chooses nothing.
func (c *choice) Set(text string) error {
	if text == "" {
		return errors.New("it is empty, and chooses nothing; leave the flag out, or say what is meant")
	}
	*c = choice(text)
	return nil
}

// String is the value, for the help.
func (c *choice) String() string { return string(*c) }

// Type is what the help calls the value.
func (*choice) Type() string { return "string" }

// selection is what the arguments and flags choose.
func (f *selectFlags) selection(p *past, args []string) host.HistorySelection {
	sel := host.HistorySelection{Call: f.call}
	if len(args) > 0 {
		sel.ID = args[0]
	}
	if f.file != "" {
		sel.Path = realPath(p.cwd, f.file)
	}
	return sel
}

// realPath is a file's path as histories have it, also where the file is gone.
func realPath(cwd, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return filepath.Clean(path)
}

func historySessionsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions that have a history",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.historySessions(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	return cmd
}

func (a *app) historySessions(asJSON bool) error {
	s, err := a.setup()
	if err != nil {
		return err
	}
	found, err := host.Histories(s.options.Storage.Sessions)
	if err != nil {
		return hostError(err)
	}
	if asJSON {
		for _, one := range found {
			if err := a.printJSON(one); err != nil {
				return err
			}
		}
		return nil
	}
	if len(found) == 0 {
		a.out.Printf("No session has a history.\n")
		return nil
	}
	rows := [][]string{{"SESSION", "LAST WRITE"}}
	for _, one := range found {
		rows = append(rows, []string{one.ID, one.Time.Local().Format(time.DateTime)})
	}
	a.out.Table(rows)
	return nil
}

// warnDamaged tells of records that cannot be read.
func (a *app) warnDamaged(p *past) error {
	_, damaged, err := p.Records()
	if err == nil && damaged > 0 {
		a.err.Printf("toolquay: %s of the history cannot be read; the others are as they were written\n", count(damaged, "line"))
	}
	return hostError(err)
}

// count is a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// here is the directory that a flag names, resolved.
func here(cwd, dir string) (string, error) {
	path := realPath(cwd, dir)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", usageError("--relative-to: %s is not a directory", path)
	}
	return path, nil
}
