package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
)

// latest stands for the session whose history changed last.
const latest = "latest"

// past is the history of the session that is asked about.
type past struct {
	*host.History
	session string
	// cwd is where names of files begin, with links resolved.
	cwd string
}

// openPast opens the history of the session that the flags name.
func openPast(a *app) (*past, error) {
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

// withPast opens the history that is asked about, and closes it after what is done with it.
func withPast(a *app, do func(*past) error) error {
	p, err := openPast(a)
	if err != nil {
		return err
	}
	return cmp.Or(do(p), hostError(p.Close()))
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

// here is the directory that a flag names, resolved.
func here(cwd, dir string) (string, error) {
	path := realPath(cwd, dir)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", usageError("--relative-to: %s is not a directory", path)
	}
	return path, nil
}

// named refuses empty names, which would select a whole directory.
func named(_ *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return usageError("an empty name chooses nothing")
	}
	return nil
}

// noSuchWrite is that nothing is selected.
func noSuchWrite(p *past, sel host.HistorySelection) error {
	return usageError("the session %s wrote nothing of this: %s; toolquay history list --session %s shows what it wrote", p.session, sel, p.session)
}

// historyError gives an error its exit code.
func historyError(p *past, sel host.HistorySelection, err error) error {
	if errors.Is(err, host.ErrNoChange) {
		return noSuchWrite(p, sel)
	}
	return hostError(err)
}
