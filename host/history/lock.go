package history

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// lockWait is how long another process that writes is waited for. It holds the lock
// for milliseconds, but while it gives way to the bound on size.
const lockWait = 10 * time.Second

// locked does something while nobody else writes to the history, of this process or
// another. The mutex of s is held by the caller.
func (s *Store) locked(ctx context.Context, do func() error) error {
	if err := s.make(); err != nil {
		return err
	}
	if s.lock == nil {
		f, _, err := privatedir.OpenOwn(filepath.Join(s.dir, lockName), os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		s.lock = f
	}
	if err := filelock.Wait(ctx, s.lock, lockWait); err != nil {
		return err
	}
	defer filelock.Unlock(s.lock)
	return do()
}
