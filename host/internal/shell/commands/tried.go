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

// Trial is the staging of a command that is tried before a person is asked about it. What it changes
// in the directories for temporary files is kept from the disk, too.
type Trial interface {
	Staging
	// Scrap returns where changes in a directory lie of which nobody wants to know.
	Scrap(dir string) (Layer, error)
	// Hides reports whether the command may not see git's own directory of a repository, as rules
	// withhold files that its history may hold.
	Hides(ctx context.Context, dir string) bool
	// Lacked says what the command needed and had not, or why it is not known what it changed.
	Lacked(why string)
	// Missed says what the command had not, which counts if it failed: that may be why.
	Missed(what string)
}

// layers returns where the changes of a command lie.
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

// tried looks, when a command that was tried has ended, for what it was kept from.
func tried(trial Trial, o *shell.Overlays) {
	ctx, cancel := context.WithTimeout(context.Background(), longestScan)
	defer cancel()
	switch beyond, refused, err := o.Sought(ctx); {
	case err != nil:
		trial.Lacked("it is not known whether it needed the network: " + err.Error())
	case beyond:
		trial.Lacked("it needs the network")
	case refused:
		trial.Missed("nothing listens where it connected, and a trial does not reach the servers of other commands")
	}
}

// mask hides git's own directories from a command that is tried, where rules withhold what these may
// hold.
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
		if _, err := os.Lstat(dir); err == nil { // it may lie below a file
			trial.Missed("a trial does not see " + dir + ", as rules hide files that the history may hold")
		}
	}
}
