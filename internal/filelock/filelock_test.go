package filelock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
)

// two opens one file twice.
func two(t *testing.T) (first, second *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	return open(), open()
}

func TestTry(t *testing.T) {
	t.Parallel()
	first, second := two(t)
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

func TestWait(t *testing.T) {
	t.Parallel()
	first, second := two(t)
	if err := filelock.WaitContext(t.Context(), first, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := filelock.WaitContext(t.Context(), second, time.Millisecond); err == nil || !strings.Contains(err.Error(), first.Name()) {
		t.Errorf("a lock that is held: %v", err)
	}
	over, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if err := filelock.WaitContext(over, second, time.Hour); !errors.Is(err, enough) {
		t.Errorf("a lock that nobody waits for any more: %v", err)
	}
	got := make(chan error)
	go func() { got <- filelock.WaitContext(t.Context(), second, time.Hour) }()
	filelock.Unlock(first)
	if err := <-got; err != nil {
		t.Errorf("a lock that was let go of: %v", err)
	}
}

// TestLockIsExclusive hammers one lock. Whoever got the file that another has just
// taken away must not think that it holds anything.
func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	const goroutines, each = 8, 300
	var inside atomic.Int32
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				unlock, err := filelock.Path(path, time.Hour)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two hold it")
				}
				inside.Add(-1)
				unlock()
			}
		})
	}
	wg.Wait()
}
