package audit

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
)

// lockWait is how long a writer waits for others. They hold the lock for
// microseconds, or for one sync; a process that was stopped while it held the
// lock must not stop all decisions for ever.
const lockWait = 5 * time.Second

// lockFile takes the lock on an open file that orders processes. It goes with
// the file: when a process dies, its lock is free.
func lockFile(f *os.File) error {
	pause := 20 * time.Microsecond
	for deadline := time.Now().Add(lockWait); ; time.Sleep(pause) {
		err := filelock.Try(f)
		if !errors.Is(err, filelock.ErrLocked) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("another process has held %s for %v", f.Name(), lockWait)
		}
		pause = min(2*pause, 2*time.Millisecond)
	}
}
