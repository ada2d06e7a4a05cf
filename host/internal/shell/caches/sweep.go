package caches

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/internal/tempdir"
)

// doomed begins the name of a layer that is being removed.
const doomed = "removed-"

// Sweep removes the layers that were not used for so long, until ctx ends. What cannot be
// removed is logged, and tried again by the next sweep.
func Sweep(ctx context.Context, root string, age time.Duration, log *slog.Logger) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return // there are none
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if ctx.Err() != nil {
			return
		}
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < age {
			continue
		}
		path := filepath.Join(root, entry.Name())
		if !strings.HasPrefix(entry.Name(), doomed) {
			// Who comes now makes a new one.
			old := path
			path = filepath.Join(root, doomed+entry.Name())
			if os.Rename(old, path) != nil {
				continue
			}
		}
		if err := tempdir.RemoveAll(path); err != nil {
			log.Warn("the old caches of a project could not be removed", "directory", path, "error", err)
		}
	}
}
