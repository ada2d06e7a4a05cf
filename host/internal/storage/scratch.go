package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/internal/tempdir"
)

// ErrClosed is returned for the directories of a session that was closed.
var ErrClosed = errors.New("it is closed")

// scratch is a directory that does not outlive its session. It is made when it is first
// used, closed to other users. The zero value is ready for use.
type scratch struct {
	mu     sync.Mutex
	made   *tempdir.Dir
	closed bool
}

// dir returns a directory in it by its real path, and makes it where it is missing.
func (s *scratch) dir(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", fmt.Errorf("the session: %w", ErrClosed)
	}
	if s.made == nil {
		var err error
		if s.made, err = tempdir.Make(); err != nil {
			return "", err
		}
	}
	path := filepath.Join(s.made.Path, name)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return path, nil
}

// path is where a directory in it lies; empty where none was made.
func (s *scratch) path(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil || s.closed {
		return ""
	}
	return filepath.Join(s.made.Path, name)
}

// close removes it with all that is in it. It is not made again.
func (s *scratch) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed := s.closed
	if s.closed = true; closed || s.made == nil {
		return nil
	}
	return s.made.Close()
}
