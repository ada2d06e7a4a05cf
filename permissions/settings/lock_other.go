//go:build !unix || solaris || aix

package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// lockWait is how long one process waits for another that writes, which takes
// milliseconds.
const lockWait = 10 * time.Second

// lock makes a file that only one process can make, and returns what takes it away
// again.
func lock(path string) (unlock func(), err error) {
	for deadline := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_ = f.Close() // nothing was written
			return func() { _ = os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("another process holds %s; if none does, delete it", path)
		}
	}
}

// keepOwner has nothing to do: a file made here has the owner of its directory's
// access control list.
func keepOwner(string, fs.FileInfo) error { return nil }
