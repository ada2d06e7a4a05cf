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
func Wait(f *os.File, most time.Duration) error { return wait(nil, f, most) }

// WaitContext is [Wait] until the context ends, whose cause is the error then.
func WaitContext(ctx context.Context, f *os.File, most time.Duration) error {
	err := wait(ctx.Done(), f, most)
	if errors.Is(err, errDone) {
		return context.Cause(ctx)
	}
	return err
}

var errDone = errors.New("nobody waits any more")

func wait(done <-chan struct{}, f *os.File, most time.Duration) error {
	pause := 20 * time.Microsecond
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
		case <-done:
			return errDone
		case <-time.After(pause):
			pause = min(2*pause, 20*time.Millisecond)
		}
	}
}
