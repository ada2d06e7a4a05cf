package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/internal/filelock"
)

func TestTry(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	if err := filelock.Try(first); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Try(second); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("a lock that is held: %v", err)
	}
	filelock.Unlock(first)
	if err := filelock.Try(second); err != nil {
		t.Errorf("a lock that was let go of: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Try(first); err != nil {
		t.Errorf("a lock whose file was closed: %v", err)
	}
}
