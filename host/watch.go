package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/internal/filewatch"
)

const (
	// quiet is how long nothing may change before plugins are read again: a plugin
	// that is being copied is broken until all of it is there.
	quiet = 300 * time.Millisecond
	// restless is how long changes may go on before they are read all the same.
	restless = 3 * time.Second
)

// Follow keeps the plugins up to date with their directories, which need not exist
// yet, and with what people consent to: after a change it calls [Host.Reload], which
// tells [Options.Observe] of tools that came or went. It returns at once; following
// ends with ctx, with the host, or with the function returned, which waits for a
// reload under way.
//
// Calls under way end with the plugin that they began with, and turns too; the next
// turn has the new one, if nothing has to be consented to anew.
func (h *Host) Follow(ctx context.Context) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(h.live, cancel) //nolint:contextcheck // it is the end of another one that counts
	changed := make(chan struct{}, 1)
	wake := func() {
		select {
		case changed <- struct{}{}:
		default: // it is awake
		}
	}
	watcher := filewatch.Watch(ctx, h.pluginFiles(), wake)
	wake() // what changed before watching began
	done := make(chan struct{})
	h.followers.Go(func() {
		defer close(done)
		defer unlink()
		defer watcher.Close()
		h.follow(ctx, changed, watcher)
	})
	return func() {
		cancel()
		<-done
	}
}

// follow reloads the plugins after each change that has settled.
func (h *Host) follow(ctx context.Context, changed <-chan struct{}, watcher *filewatch.Watcher) {
	warn := func(told, what string, err error) string {
		if err == nil || err.Error() == told {
			return told
		}
		h.options.Logger.Warn(what, "error", err) //nolint:sloglint // the callers' are constant
		return err.Error()
	}
	var failed, late string // the last of each kind, so that it is told once
	for settled(ctx, changed) {
		late = warn(late, "the system does not tell of every change of plugins; they are looked at every few seconds", watcher.Err())
		switch _, err := h.Reload(ctx); {
		case err == nil:
			failed = ""
		case ctx.Err() != nil || errors.Is(err, ErrClosed):
			return
		default:
			failed = warn(failed, "plugins changed and cannot be reloaded; those that were loaded stay", err)
		}
	}
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

// pluginFiles lists what plugins are made of: the directories they are looked for
// in, the folders there, and the records of consents and of trust.
func (h *Host) pluginFiles() func() []string {
	return func() []string {
		var files []string
		if h.options.ConsentFile != "" {
			files = append(files, h.options.ConsentFile)
		}
		for _, source := range h.options.Plugins {
			files = append(files, source.Watched...)
			if dir := source.Directory(); dir != "" {
				files = append(append(files, dir), foldersIn(dir)...)
			}
		}
		return files
	}
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
