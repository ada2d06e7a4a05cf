package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Wait takes the lock, for which it waits so long at most; the error is [ErrLocked] then.
// Where the system orders no processes it takes nothing.
func Wait(ctx context.Context, f *os.File, most time.Duration) error {
	wait := 20 * time.Microsecond
	for deadline := time.Now().Add(most); ; {
		err := Try(f)
		switch {
		case err == nil, errors.Is(err, errors.ErrUnsupported):
			return nil
		case !errors.Is(err, ErrLocked):
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("%s is %w: another process has held it for %v; end it, or try again", f.Name(), ErrLocked, most)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
			wait = min(2*wait, 20*time.Millisecond)
		}
	}
}
