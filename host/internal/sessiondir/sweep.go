package sessiondir

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// Sweep removes the session directories below their parent that were not used for so
// long. It leaves alone what is in use, what is younger, and everything that
// does not identify itself as a session directory: a private directory of the user's with
// a marker that fits its name. Links are neither followed nor removed. What cannot
// be removed is told to the logger and left.
func Sweep(ctx context.Context, parent string, age time.Duration, log *slog.Logger) (removed int, err error) {
	root, err := os.OpenRoot(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return 0, err
	}
	before := time.Now().Add(-age)
	for _, entry := range entries {
		if ctx.Err() != nil {
			return removed, context.Cause(ctx)
		}
		if !entry.IsDir() || !unused(root, entry.Name(), before) {
			continue
		}
		done, err := remove(root, entry.Name(), before)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // that is somebody else's doing
			log.Warn("the directory of an old session could not be removed", "directory", filepath.Join(parent, entry.Name()), "error", err)
		}
		if done {
			removed++
		}
	}
	return removed, nil
}

// unused reports whether nothing was written to a directory since a time. It opens
// nothing, so that young ones cost little.
func unused(root *os.Root, name string, since time.Time) bool {
	marker, err := root.Lstat(filepath.Join(name, markerName))
	if err != nil || !marker.Mode().IsRegular() || marker.ModTime().After(since) {
		return false
	}
	journal, err := root.Lstat(filepath.Join(name, journalName))
	return err != nil || !journal.ModTime().After(since)
}

// remove removes a directory that is ours and not in use. Its marker goes last: what a
// crash leaves of it is still known for what it is, and without a journal nobody
// believes in files that are gone.
func remove(root *os.Root, name string, before time.Time) (bool, error) {
	dir, err := os.OpenRoot(filepath.Join(root.Name(), name))
	if err != nil {
		return false, err
	}
	defer dir.Close()
	if !isOwn(root, dir, name) {
		return false, nil
	}
	marker, _, err := privatedir.OpenOwn(filepath.Join(root.Name(), name, markerName), os.O_RDWR)
	if err != nil {
		return false, err
	}
	defer func() { _ = release(marker) }() // nothing was written
	if err := lock(marker); err != nil {
		if errors.Is(err, ErrInUse) {
			err = nil
		}
		return false, err
	}
	m, err := readMark(marker)
	if err != nil || m.Version != markerVersion || nameOf(m.Session) != name || !unused(root, name, before) {
		return false, nil // it is somebody else's file
	}
	if err := empty(dir); err != nil {
		return false, err
	}
	if err := root.Remove(name); err != nil {
		if _, taken := root.Lstat(filepath.Join(name, markerName)); taken == nil {
			err = nil // the session was opened anew meanwhile
		}
		return true, err
	}
	return true, nil
}

// isOwn reports whether the directory that was opened is the one by that name, no
// link, and private.
func isOwn(root, dir *os.Root, name string) bool {
	at, err := root.Lstat(name)
	if err != nil || !at.IsDir() || privatedir.Make(filepath.Join(root.Name(), name)) != nil {
		return false
	}
	opened, err := dir.Stat(".")
	return err == nil && os.SameFile(at, opened)
}

// empty removes what is in a directory: the journal first, the marker last.
func empty(dir *os.Root) error {
	if err := dir.RemoveAll(journalName); err != nil {
		return err
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == markerName {
			continue
		}
		if err := dir.RemoveAll(entry.Name()); err != nil {
			return err
		}
	}
	return dir.Remove(markerName)
}
