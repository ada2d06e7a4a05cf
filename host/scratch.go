package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

const (
	// scratchPrefix begins the names of scratch directories, among other things'.
	scratchPrefix = "toolquay-"
	// scratchLock is a file in one that is locked as long as its process lives.
	scratchLock = "lock"
)

// scratch is a directory of a session's or of the host's own for what does not outlive
// it, such as the /tmp of a session's commands. It is made when it is first used, closed
// to other users; see [sweepScratch] for those of processes that were killed. The zero
// value is ready for use.
type scratch struct {
	mu     sync.Mutex
	path   string
	lock   *os.File
	closed bool
}

// dir is a directory in it, by its real path.
func (s *scratch) dir(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", fmt.Errorf("the session: %w", ErrClosed)
	}
	if s.path == "" {
		if err := s.make(); err != nil {
			return "", err
		}
	}
	path := filepath.Join(s.path, name)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return path, nil
}

// make makes the directory and locks it. Another host may have swept it away before it
// was locked: then the next one is made.
func (s *scratch) make() error {
	const tries = 5
	for range tries {
		made, err := os.MkdirTemp("", scratchPrefix) // 0700
		if err != nil {
			return err
		}
		path, err := filepath.EvalSymlinks(made)
		if err != nil {
			return errors.Join(err, os.Remove(made))
		}
		if lock := locked(path, os.O_CREATE); lock != nil {
			s.path, s.lock = path, lock
			return nil
		}
	}
	return errors.New("a directory for temporary files could not be locked")
}

// locked takes the lock of a scratch directory; nil is that it is not to be had. One
// that lies there no more is none.
func locked(dir string, flags int) *os.File {
	path := filepath.Join(dir, scratchLock)
	lock, opened, err := privatedir.OpenOwn(path, os.O_RDWR|flags)
	if err != nil {
		return nil
	}
	if filelock.Try(lock) == nil {
		if there, err := os.Lstat(path); err == nil && os.SameFile(there, opened) {
			return lock
		}
	}
	_ = lock.Close() // nothing was written to it
	return nil
}

// sweepScratch removes what processes that were killed have left: scratch directories of
// this user's that nobody holds the lock of. Others are left alone, whatever they are
// called.
func sweepScratch(ctx context.Context, log *slog.Logger) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*"))
	if err != nil {
		return // the path of the directory has no pattern's characters in most places
	}
	for _, dir := range left {
		if ctx.Err() != nil {
			return
		}
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || privatedir.Make(dir) != nil {
			continue
		}
		lock := locked(dir, 0)
		if lock == nil {
			continue
		}
		err = errors.Join(removeAll(dir), lock.Close())
		if err != nil {
			log.Warn("what an earlier process left could not be removed", "directory", dir, "error", err)
		}
	}
}

// close removes it with all that is in it. It is made no more.
func (s *scratch) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.path == "" {
		s.closed = true
		return nil
	}
	s.closed = true
	return errors.Join(removeAll(s.path), s.lock.Close())
}

// removeAll removes a directory with all that is in it. Commands may have closed
// directories against changes, as some do that keep downloads: those are opened first.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	root, err := os.OpenRoot(dir) // from where no link leads elsewhere
	if err != nil {
		return err
	}
	open := func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return root.Chmod(name, 0o700)
		}
		return nil // it turns out when it is removed
	}
	if err := errors.Join(fs.WalkDir(root.FS(), ".", open), root.Close()); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
