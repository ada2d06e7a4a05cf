package pluginset

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/internal/filewatch"
	"github.com/toolquay/toolquay/plugins"
)

const (
	// quiet is how long nothing may change before plugins are read again: a plugin
	// that is being copied is broken until all of it is there.
	quiet = 300 * time.Millisecond
	// restless is how long changes may go on before they are read all the same.
	restless = 3 * time.Second
)

// Follower follows the files that plugins are made of.
type Follower struct {
	changed chan struct{}
	watcher *filewatch.Watcher
	logger  *slog.Logger
}

// NewFollower begins to follow files, until ctx ends. [Follower.Run] must be called.
func NewFollower(ctx context.Context, files func() []string, logger *slog.Logger) *Follower {
	f := &Follower{changed: make(chan struct{}, 1), logger: logger}
	wake := func() {
		select {
		case f.changed <- struct{}{}:
		default: // it is awake
		}
	}
	f.watcher = filewatch.Watch(ctx, files, wake)
	wake() // what changed before watching began
	return f
}

// Run calls reload after each change that has settled, until ctx ends.
func (f *Follower) Run(ctx context.Context, reload func(context.Context) error) {
	defer f.watcher.Close()
	var failed, late string // the last of each kind, so that it is told once
	for settled(ctx, f.changed) {
		late = f.warn(late, "the system does not tell of every change of plugins; they are looked at every few seconds", f.watcher.Err())
		switch err := reload(ctx); {
		case err == nil:
			failed = ""
		case ctx.Err() != nil:
			return
		default:
			failed = f.warn(failed, "plugins changed and cannot be reloaded; those that were loaded stay", err)
		}
	}
}

// warn logs an error unless it is the one that was logged last, and returns its text.
func (f *Follower) warn(told, what string, err error) string {
	if err == nil || err.Error() == told {
		return told
	}
	f.logger.Warn(what, "error", err) //nolint:sloglint // the callers' are constant
	return err.Error()
}

// settled waits for a change, and then until nothing has changed for a while. It
// reports false where ctx ends first.
func settled(ctx context.Context, changed <-chan struct{}) bool {
	select {
	case <-changed:
	case <-ctx.Done():
		return false
	}
	latest := time.After(restless)
	for {
		select {
		case <-changed:
		case <-time.After(quiet):
			return true
		case <-latest:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// Files lists what plugins are made of: the directories they are looked for in, the folders
// there, and the records of grants and of trust. Grants may be empty.
func Files(grants string, sources []plugins.Source) []string {
	var files []string
	if grants != "" {
		files = append(files, grants)
	}
	for _, source := range sources {
		files = append(files, source.Watched...)
		if dir := source.Directory(); dir != "" {
			files = append(append(files, dir), foldersIn(dir)...)
		}
	}
	return files
}

// foldersIn are the directories in one that plugins may be in, links among them.
func foldersIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // it comes to be listed when it is there
	}
	var folders []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			folders = append(folders, path)
		}
	}
	return folders
}
