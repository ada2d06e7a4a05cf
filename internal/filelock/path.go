package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"
)

// Path makes the file at a path and takes the lock on it. It waits for at most most. The
// function that it returns removes the file and unlocks it. A file that a killed process
// left behind is unlocked, so it delays nobody. Where the system orders no processes,
// nothing is locked.
func Path(path string, most time.Duration) (unlock func(), err error) {
	for deadline := time.Now().Add(most); ; time.Sleep(5 * time.Millisecond) {
		f, err := try(path)
		if err == nil {
			return func() { remove(f, path) }, nil
		}
		if !errors.Is(err, ErrLocked) {
			return nil, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("another process has held %s for %v; end it, or try again", path, most)
		}
	}
}

// try opens and locks the file at a path. A file that was replaced meanwhile counts as
// locked, because nobody else would wait for the lock on it.
func try(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|openFlags, 0o600)
	if runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission) {
		return nil, ErrLocked // it is just being removed
	}
	if err != nil {
		return nil, err
	}
	err = Try(f)
	if errors.Is(err, errors.ErrUnsupported) {
		return f, nil
	}
	if err == nil && !current(f, path) {
		err = ErrLocked
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, err
	}
	return f, nil
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

// remove removes a file and then unlocks it, so that no other process locks a file that is
// about to go. Windows removes no file that is open anywhere, hence in the other order.
func remove(f *os.File, path string) {
	if runtime.GOOS == "windows" {
		_ = f.Close()
		_ = os.Remove(path) // it fails where the next process has opened it
		return
	}
	_ = os.Remove(path)
	_ = f.Close()
}
