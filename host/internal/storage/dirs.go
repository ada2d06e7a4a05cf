package storage

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// The directories of a session's commands: for their temporary files, in the scratch
// directory, and in the session's directory for their output and for the socket by which
// others reach their network.
const (
	tempDir    = "tmp"
	outputsDir = "output"
	reachDir   = "reach"
)

func outputsIn(dir *sessiondir.Dir) string { return filepath.Join(dir.Path(), outputsDir) }

// ReachIn is the directory of the socket by which others reach a session's network, in the
// session's directory.
func ReachIn(dir string) string { return filepath.Join(dir, reachDir) }

// makeIn makes a directory in a session's directory.
func makeIn(dir *sessiondir.Dir, name string) error {
	first, err := dir.Temp(name) // which makes the directory
	if err != nil {
		return err
	}
	return errors.Join(first.Close(), os.Remove(first.Name()))
}

// ResultDirs are the directories, in a session's, of what its tools and commands put out.
func ResultDirs() []string { return []string{results.Dir, outputsDir, keptDir} }
