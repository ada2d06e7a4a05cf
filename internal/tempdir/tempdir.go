package tempdir

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

const (
	// prefix begins the names of the directories, among other things'. Digits follow.
	prefix = "toolquay-"
	// lockName is a file in each that is locked as long as its process lives.
	lockName = "lock"
)

// Dir is a directory of this process alone, closed to other users.
type Dir struct {
	// Path is where it really lies.
	Path string
	lock *os.File
	once sync.Once
}

// Make makes a directory and locks it. Another process may have swept it away before it
// was locked: then the next one is made.
func Make() (*Dir, error) {
	const tries = 5
	for range tries {
		made, err := os.MkdirTemp("", prefix) // 0700
		if err != nil {
			return nil, err
		}
		path, err := filepath.EvalSymlinks(made)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, os.Remove(made))
		}
		if lock := locked(path, os.O_CREATE); lock != nil {
			return &Dir{Path: path, lock: lock}, nil
		}
	}
	return nil, errors.New("a directory for temporary files could not be locked")
}

// Close removes the directory with all that is in it. It is safe to repeat.
func (d *Dir) Close() (err error) {
	d.once.Do(func() { err = remove(d.Path, d.lock) })
	return err
}

// remove removes a directory and closes its lock. The lock goes last: a process that is
// killed meanwhile leaves a directory that the next sweep knows.
func remove(dir string, lock *os.File) error {
	entries, err := os.ReadDir(dir)
	faults := []error{err}
	for _, entry := range entries {
		if entry.Name() != lockName {
			faults = append(faults, RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return errors.Join(err, lock.Close())
	}
	return errors.Join(os.RemoveAll(dir), lock.Close())
}

// locked takes the lock of a directory; nil is that it is not to be had. One that lies
// there no more is none.
func locked(dir string, flags int) *os.File {
	path := filepath.Join(dir, lockName)
	lock, opened, err := privatedir.OpenOwn(path, os.O_RDWR|flags)
	if err != nil {
		return nil
	}
	if filelock.Try(lock) == nil {
		if there, err := os.Lstat(path); err == nil && os.SameFile(there, opened) {
			return lock
		}
	}
	_ = lock.Close() // nothing was written to it
	return nil
}

// Sweep removes what processes that were killed have left: directories of this user's
// whose lock nobody holds, and those that were killed between making one and locking it.
// Others are left alone, whatever they are called.
func Sweep(ctx context.Context, log *slog.Logger) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return // the path of the directory has no pattern's characters in most places
	}
	for _, dir := range left {
		if ctx.Err() != nil {
			return
		}
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || privatedir.Make(dir) != nil {
			continue
		}
		if err := sweep(dir); err != nil {
			log.Warn("what an earlier process left could not be removed", "directory", dir, "error", err)
		}
	}
}

// sweep removes one directory if it was left. An empty one with a name of ours is one
// that was never locked; who is about to lock it makes another.
func sweep(dir string) error {
	if lock := locked(dir, 0); lock != nil {
		return remove(dir, lock)
	}
	number := strings.TrimPrefix(filepath.Base(dir), prefix)
	if number != "" && strings.Trim(number, "0123456789") == "" {
		_ = os.Remove(dir) // it stays where something is in it
	}
	return nil
}

// RemoveAll removes a file, or a directory with all that is in it. Commands may have closed
// directories against changes, as some do that keep downloads: those are opened first.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	root, err := os.OpenRoot(filepath.Dir(dir)) // no link leads out of a root
	if err != nil {
		return err
	}
	return errors.Join(RemoveIn(root, filepath.Base(dir)), root.Close())
}

// RemoveIn is [RemoveAll] for a name in an open directory.
func RemoveIn(root *os.Root, name string) error {
	if root.RemoveAll(name) == nil {
		return nil
	}
	open := func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return root.Chmod(name, 0o700)
		}
		return nil // it turns out when it is removed
	}
	if err := fs.WalkDir(root.FS(), filepath.ToSlash(name), open); err != nil {
		return err
	}
	return root.RemoveAll(name)
}
