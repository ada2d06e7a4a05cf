package privatedir

import (
	"context"
	"os"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
)

// lockWait is how long another process is waited for that holds a lock: it applies many
// files in seconds, and does all else in milliseconds.
const lockWait = 10 * time.Second

// Locked does something while nobody else holds the lock on a file, in this process or
// another. It makes the file where there is none.
func Locked(ctx context.Context, path string, do func() error) error {
	f, _, err := OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := filelock.WaitContext(ctx, f, lockWait); err != nil {
		return err
	}
	// Closing it would leave it locked as long as a child is between fork and exec.
	defer filelock.Unlock(f)
	return do()
}
