package commands

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell"
)

// Trial is the staging of a command in a trial, before a person is asked about the command. It also
// stages changes in the directories for temporary files.
type Trial interface {
	Staging
	// Scrap returns a layer for a directory whose changes are thrown away.
	Scrap(dir string) (Layer, error)
	// Hides reports whether a repository's .git directory is hidden from the command, because rules
	// withhold files that the git history may hold.
	Hides(ctx context.Context, dir string) bool
	// Lacked says why the trial is inconclusive: what the command needed and did not have, or why its
	// changes are not known.
	Lacked(why string)
	// Missed says what the command did not have. It counts only if the command failed, since it may
	// be the reason.
	Missed(what string)
}

// layers returns the overlays for the directories in which a command may write.
func layers(staging Staging, roots []string, p *capability.SandboxPolicy) ([]Layer, func(), error) {
	trial, tried := staging.(Trial)
	if !tried {
		return staging.Begin(roots)
	}
	layers, end, err := trial.Begin(append(roots, p.Temp))
	if err != nil || p.Layer == "" {
		return layers, end, err
	}
	scrap, err := trial.Scrap(p.Layer)
	if err != nil {
		end()
		return nil, nil, err
	}
	return append(layers, scrap), end, nil
}

// tried finds out whether a command wanted the network, when its trial has ended.
func tried(trial Trial, o *shell.Overlays) {
	ctx, cancel := context.WithTimeout(context.Background(), longestScan)
	defer cancel()
	switch beyond, refused, err := o.Sought(ctx); {
	case err != nil:
		trial.Lacked("it is not known whether it needed the network: " + err.Error())
	case beyond:
		trial.Lacked("it needs the network")
	case refused:
		trial.Missed("it was refused a connection, and a trial does not reach the servers of other commands")
	}
}

// mask hides .git directories from a command in a trial, if rules withhold files that the git history
// may hold.
func (m *policyMaker) mask(ctx context.Context, trial Trial, p *capability.SandboxPolicy) {
	const name = "/.git"
	var dirs []string
	for _, path := range slices.Concat(m.places.Protected, p.Repositories, m.tops) {
		dir := path
		if above, _, ok := strings.Cut(path+"/", name+"/"); ok {
			dir = above + name
		} else if !slices.Contains(p.Repositories, path) {
			dir = filepath.Join(path, name)
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range m.files.Existing(dirs) {
		if !trial.Hides(ctx, dir) {
			continue
		}
		m.places.Hidden = append(m.places.Hidden, dir)
		if _, err := os.Lstat(dir); err == nil { // not if its parent is a file
			trial.Missed("a trial does not see " + dir + ", because rules hide files that the git history may hold")
		}
	}
}
