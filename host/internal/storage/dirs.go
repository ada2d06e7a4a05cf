package storage

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

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

// DefaultKeep is how long the directory of an unused session is kept.
const DefaultKeep = 30 * 24 * time.Hour

// Sweep removes the directories of sessions that were not used for so long; 0 is
// [DefaultKeep]. It logs what it removed and what it could not, until ctx ends.
func Sweep(ctx context.Context, parent string, keep time.Duration, log *slog.Logger) {
	if keep == 0 {
		keep = DefaultKeep
	}
	removed, err := sessiondir.Sweep(ctx, parent, keep, log)
	if err != nil && ctx.Err() == nil {
		log.Warn("the directories of old sessions could not be searched", "directory", parent, "error", err)
	}
	if removed > 0 {
		log.Info("the directories of old sessions were removed", "directory", parent, "count", removed)
	}
}
