package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// stageFlag is the text of --stage, for the commands that run calls.
const stageFlag = "stage what tools write: they see it, and nothing on the disk changes until toolquay stage apply"

// staged has the session of a command stage what is written, if the flag says so. One
// without a name gets one, which the person needs later.
func (a *app) staged(o *host.SessionOptions, flag bool) {
	if !flag {
		return
	}
	o.Stage = true
	if o.ID == "" {
		o.ID = "stage-" + strings.ToLower(rand.Text()[:10])
		a.err.Printf("toolquay: writes are staged in the session %s; toolquay stage diff --session %s shows them\n", o.ID, o.ID)
	}
}

func stageCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stage",
		Short: "See what a session staged, and apply or discard it",
		Long: `With --stage, run and call write into a stage: the session's tools see what they
wrote, and nothing on the disk changes. It lasts from one run to the next, with
--session and --stage. Without --stage a session that has staged files does not go on.

    toolquay run --stage --session mine turn.json
    toolquay stage diff                         of the session that staged last
    toolquay stage apply --session mine         all of it
    toolquay stage apply src/main.go            one file, or what is below a directory
    toolquay stage discard --all

It works while the session goes on, whose next call sees it.`,
		Args: cobra.NoArgs,
		RunE: help,
	}
	cmd.AddCommand(stageListCommand(a), stageDiffCommand(a), stageApplyCommand(a), stageDiscardCommand(a))
	return cmd
}

// stages is the stage of the session that is asked about.
type stages struct {
	*host.Stage
	session string
	history *host.History
	// cwd is where names of files begin, with links resolved.
	cwd string
}

// stages opens the stage of the session that the flags name, or of the one that
// staged last.
func (a *app) stages() (*stages, error) {
	s, err := a.setup()
	if err != nil {
		return nil, err
	}
	found, err := host.Stages(s.options.Storage.Sessions)
	if err != nil {
		return nil, hostError(err)
	}
	cwd, err := filepath.EvalSymlinks(s.session.Cwd)
	if err != nil {
		return nil, hostError(err)
	}
	one, err := a.stageOf(found)
	if err != nil {
		return nil, err
	}
	p := &stages{session: one.ID, cwd: cwd}
	options := host.StageOptions{Logger: s.options.Observe.Logger}
	if !s.options.Storage.NoHistory {
		p.history = historyBeside(&s, one.Dir)
		options.History = p.history
	}
	p.Stage = host.OpenStage(one.Dir, options)
	return p, nil
}

// stageOf chooses the session that is asked about: the one that is named, or the one
// that staged last and has applied or discarded not all of it.
func (a *app) stageOf(found []host.HistorySession) (host.HistorySession, error) {
	wanted := cmp.Or(a.flags.session, latest)
	for _, one := range found {
		if one.ID == wanted {
			return one, nil
		}
		if wanted != latest {
			continue
		}
		list, err := host.OpenStage(one.Dir, host.StageOptions{}).List(host.StageSelection{})
		if err != nil || len(list) > 0 { // one that is damaged is told of
			return one, nil //nolint:nilerr // what is done with it says so
		}
	}
	if wanted == latest {
		return host.HistorySession{}, usageError("no session has anything staged; run and call stage what is written with --stage")
	}
	return host.HistorySession{}, usageError("the session %q has staged nothing", wanted)
}

// historyBeside is the history in the folder that a stage lies in.
func historyBeside(s *setup, stageDir string) *host.History {
	dir := filepath.Join(filepath.Dir(stageDir), host.HistoryDir)
	options := s.options.Storage.History
	options.Logger = s.options.Observe.Logger
	options.Make = func() error { return privatedir.Make(dir) }
	return host.OpenHistory(dir, options)
}

// named refuses names that are no file's: an empty one would stand for a directory.
func named(_ *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return usageError("an empty name chooses nothing")
	}
	return nil
}

// done closes the history, after what was done.
func (p *stages) done(err error) error {
	if p.history == nil {
		return err
	}
	if failed := p.history.Close(); err == nil {
		return hostError(failed)
	}
	return err
}

// name is how a file is shown: from the working directory, if it is below it.
func (p *stages) name(path string) string { return (&past{cwd: p.cwd}).name(path) }

// selection is what the arguments choose; none is everything. Each must choose
// something: a name that was misspelt is not passed over.
func (p *stages) selection(args []string) (host.StageSelection, error) {
	var sel host.StageSelection
	var missing []string
	for _, arg := range args {
		path := realPath(p.cwd, arg)
		list, err := p.List(host.StageSelection{Paths: []string{path}})
		if err != nil {
			return sel, p.failed(args, err)
		}
		if len(list) == 0 {
			missing = append(missing, arg)
		}
		sel.Paths = append(sel.Paths, path)
	}
	if len(missing) > 0 {
		return sel, p.failed(missing, host.ErrNotStaged)
	}
	return sel, nil
}

// failed gives an error its exit code.
func (p *stages) failed(args []string, err error) error {
	switch {
	case errors.Is(err, host.ErrNotStaged) && len(args) == 0:
		return usageError("the session %s has nothing staged", p.session)
	case errors.Is(err, host.ErrNotStaged):
		return usageError("the session %s has nothing staged of %s; toolquay stage list --session %s shows what it has", p.session, strings.Join(args, ", "), p.session)
	}
	return hostError(err)
}

func stageListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [FILE...]",
		Short: "List the files that are staged",
		Args:  named,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.stages()
			if err != nil {
				return err
			}
			return p.done(a.listStaged(p, args, asJSON))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	return cmd
}

func (a *app) listStaged(p *stages, args []string, asJSON bool) error {
	sel, err := p.selection(args)
	if err != nil {
		return err
	}
	list, err := p.List(sel)
	if err != nil {
		return p.failed(args, err)
	}
	if asJSON {
		for i := range list {
			if err := a.printJSON(list[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		a.out.Printf("The session %s has nothing staged.\n", p.session)
		return nil
	}
	rows := [][]string{{"FILE", "BYTES", "TIME", "BY", "CALLS"}}
	for i := range list {
		e := &list[i]
		was := "none"
		if e.Base != nil {
			was = strconv.FormatInt(e.Base.Size, 10)
		}
		rows = append(rows, []string{
			p.name(e.Path), was + " -> " + strconv.FormatInt(e.Content.Size, 10), e.Time.Local().Format(time.DateTime), e.Tool, strings.Join(e.Calls, ", "),
		})
	}
	a.out.Printf("Session %s\n", p.session)
	a.out.Table(rows)
	return nil
}

// chosen demands that what is to be done away with is said, once.
func chosen(args []string, all bool) error {
	switch {
	case len(args) == 0 && !all:
		return usageError("say what to discard: files, directories, or --all; toolquay stage list shows what is staged")
	case len(args) > 0 && all:
		return usageError("--all is everything; leave out the files")
	}
	return nil
}
