package credentials_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/toolquay/toolquay/host/internal/credentials"
)

func TestMain(m *testing.M) {
	keyring.MockInit() // that of the machine is the person's
	os.Exit(m.Run())
}

func stores(t *testing.T) map[string]*credentials.Store {
	t.Helper()
	return map[string]*credentials.Store{
		"files":   credentials.InFiles(filepath.Join(t.TempDir(), "credentials")),
		"keyring": credentials.InKeyring(filepath.Join(t.TempDir(), "credentials")),
	}
}

func set(t *testing.T, s *credentials.Store, name, secret string) {
	t.Helper()
	err := s.Update(t.Context(), name, func([]byte) ([]byte, error) {
		if secret == "" {
			return nil, nil
		}
		return []byte(secret), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, s *credentials.Store, name, want string) {
	t.Helper()
	if got, err := s.Load(t.Context(), name); err != nil || string(got) != want {
		t.Errorf("%q is kept under %q, want %q: %v", got, name, want, err)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			wants(t, s, "a", "")
			set(t, s, "a", "one")
			set(t, s, "A", "other")
			set(t, s, "a/../b", "far")
			wants(t, s, "a", "one")
			wants(t, s, "A", "other")
			wants(t, s, "a/../b", "far")
			failed := errors.New("failed")
			err := s.Update(t.Context(), "a", func(kept []byte) ([]byte, error) {
				if string(kept) != "one" {
					t.Errorf("updating %q", kept)
				}
				return []byte("two"), failed
			})
			if !errors.Is(err, failed) {
				t.Error(err)
			}
			wants(t, s, "a", "one")
			set(t, s, "a", "")
			set(t, s, "a", "")
			wants(t, s, "a", "")
			if err := s.Update(t.Context(), "a", func([]byte) ([]byte, error) { return make([]byte, 65<<10), nil }); err == nil {
				t.Error("a secret of 65 KiB was kept")
			}
		})
	}
}

// Nobody loses what another wrote.
func TestUpdatesAreOrdered(t *testing.T) {
	t.Parallel()
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			set(t, s, "n", "0") // the keyring may be that of an earlier run
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					err := s.Update(t.Context(), "n", func(kept []byte) ([]byte, error) {
						n, _ := strconv.Atoi(string(kept))
						return []byte(strconv.Itoa(n + 1)), nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			wants(t, s, "n", "20")
		})
	}
}

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // where the profile of the user is private as a whole
	}
	dir := filepath.Join(t.TempDir(), "credentials")
	s := credentials.InFiles(dir)
	set(t, s, "a", "secret")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
		if strings.HasSuffix(e.Name(), ".json") {
			if err := os.Chmod(filepath.Join(dir, e.Name()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Load(t.Context(), "a"); err == nil {
		t.Error("a file that others can read was read")
	}
}

// An update waits for its turn no longer than its context.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	s := credentials.InFiles(filepath.Join(t.TempDir(), "credentials"))
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(t.Context(), "a", func([]byte) ([]byte, error) {
		go cancel()
		return nil, s.Update(ctx, "a", func([]byte) ([]byte, error) { return nil, nil })
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
