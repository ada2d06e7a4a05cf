package stage

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// lockWait is how long another process is waited for: applying many files takes
// seconds, all else milliseconds.
const lockWait = 10 * time.Second

// locked does something while nobody else changes the stage, of this process or
// another, and with what is staged known. The mutex of s is held by the caller.
func (s *Store) locked(ctx context.Context, do func() error) error {
	if err := s.make(); err != nil {
		return err
	}
	f, _, err := privatedir.OpenOwn(filepath.Join(s.dir, lockName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close() // which unlocks it
	if err := filelock.Wait(ctx, f, lockWait); err != nil {
		return err
	}
	return do()
}
