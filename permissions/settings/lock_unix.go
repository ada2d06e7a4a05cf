//go:build unix && !solaris && !aix

package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
)

// lockWait is how long one process waits for another that writes, which takes
// milliseconds.
const lockWait = 10 * time.Second

// lock waits until no other process holds the lock and returns what gives it back.
// The file that it makes goes away again; a process that dies leaves no lock
// behind.
func lock(path string) (unlock func(), err error) {
	for deadline := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, err
		}
		err = filelock.Try(f)
		if err == nil && current(f, path) {
			return func() {
				_ = os.Remove(path) // before it is given back: who waits makes a new one
				_ = f.Close()
			}, nil
		}
		_ = f.Close()
		if err != nil && !errors.Is(err, filelock.ErrLocked) {
			return nil, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("another process holds %s", path)
		}
	}
}

// current reports whether a locked file is still the one at its path.
func current(f *os.File, path string) bool {
	locked, err := f.Stat()
	if err != nil {
		return false
	}
	at, err := os.Lstat(path)
	return err == nil && os.SameFile(locked, at)
}

// keepOwner gives a file the owner and group that it had.
func keepOwner(path string, was fs.FileInfo) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	old, ok := was.Sys().(*syscall.Stat_t)
	now, same := info.Sys().(*syscall.Stat_t)
	if !ok || !same || old.Uid == now.Uid && old.Gid == now.Gid {
		return nil
	}
	return os.Lchown(path, int(old.Uid), int(old.Gid))
}
