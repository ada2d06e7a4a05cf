package tasks

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// recorder keeps tasks beyond the process, and removes what is forgotten.
type recorder struct {
	dir     *sessiondir.Dir // nil is none
	outputs string
	log     *slog.Logger
}

// path is the directory; empty is none.
func (r *recorder) path() string {
	if r.dir == nil {
		return ""
	}
	return r.dir.Path()
}

// keep writes records to the session's journal, if there is one. No lock is held: it
// waits for the disk.
func (r *recorder) keep(records ...sessiondir.Record) error {
	if r.dir == nil {
		return nil
	}
	return r.dir.Append(records...)
}

// keepIfItCan is keep for what goes on in memory where it fails.
func (r *recorder) keepIfItCan(records ...sessiondir.Record) {
	if err := r.keep(records...); err != nil {
		r.log.Warn("what a background task came to could not be kept; the next process will not know it", "error", err)
	}
}

// removeOutputs removes the outputs of tasks that are forgotten, as far as they are the
// registry's.
func (r *recorder) removeOutputs(forgotten []*task) {
	for _, t := range forgotten {
		output := t.info.Output // nothing changes it any more
		if r.outputs == "" || output == "" || filepath.Dir(output) != filepath.Clean(r.outputs) {
			continue
		}
		if err := os.Remove(output); err != nil && !os.IsNotExist(err) {
			r.log.Warn("the output of a background task that is forgotten could not be removed", "task", t.info.ID, "file", output, "error", err)
		}
	}
}
