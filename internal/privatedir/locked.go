package privatedir

import (
	"context"
	"os"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
)

// lockWait bounds the wait for another process that holds a lock. Applying many files takes
// seconds, everything else milliseconds.
const lockWait = 10 * time.Second

// Locked calls do while holding an exclusive lock on a file, which excludes other holders in
// this process and in others. It makes the file if there is none. It fails if it does not get
// the lock within ten seconds, or before ctx ends.
func Locked(ctx context.Context, path string, do func() error) error {
	f, _, err := OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := filelock.WaitContext(ctx, f, lockWait); err != nil {
		return err
	}
	// Closing alone would leave it locked while a child is between fork and exec.
	defer filelock.Unlock(f)
	return do()
}
