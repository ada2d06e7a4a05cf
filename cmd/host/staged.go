package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// stages is the stage of the session that is asked about.
type stages struct {
	*host.Stage
	session string
	history *host.History
	// cwd is where names of files begin, with links resolved.
	cwd string
}

// openStages opens the stage of the session that the flags name, or of the one that
// staged last.
func openStages(a *app) (*stages, error) {
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
	one, err := stageOf(a, found)
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
func stageOf(a *app, found []host.HistorySession) (host.HistorySession, error) {
	wanted := cmp.Or(a.flags.session, latest)
	for _, one := range found {
		if one.ID == wanted {
			return one, nil
		}
		if wanted != latest {
			continue
		}
		list, err := host.OpenStage(one.Dir, host.StageOptions{}).List(host.StageSelection{})
		if err != nil || len(list) > 0 { // a damaged stage counts: the command that uses it reports the damage
			return one, nil //nolint:nilerr // see above
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

// withStages opens the stage that is asked about, and closes its history after what is done
// with it.
func withStages(a *app, do func(*stages) error) error {
	p, err := openStages(a)
	if err != nil {
		return err
	}
	if err = do(p); p.history != nil {
		err = cmp.Or(err, hostError(p.history.Close()))
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

// stageFlag is the text of --stage, for the commands that run calls.
const stageFlag = "stage what tools and commands write: they see it, and nothing on the disk changes until toolquay stage apply"

// stageWrites has the session of a command stage what is written, if the flag says so. One
// without a name gets one, which the person needs later.
func stageWrites(a *app, o *host.SessionOptions, flag bool) {
	if !flag {
		return
	}
	o.Stage = true
	if o.ID == "" {
		o.ID = "stage-" + strings.ToLower(rand.Text()[:10])
		a.err.Printf("toolquay: writes are staged in the session %s; toolquay stage diff --session %s shows them\n", o.ID, o.ID)
	}
}
