//go:build unix

package sessiondir_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// TestRemoveBegun removes the directory of a session that begins in it just then: either it is
// gone before the session has it, or all of the session stays.
func TestRemoveBegun(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	aged(t, dir, "other", 0)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for i := range 40 {
		name := fmt.Sprintf("s%d", i)
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		removed := make(chan error)
		go func() { removed <- sessiondir.Remove(root, name, time.Now().Add(time.Hour)) }()
		f, err := sessiondir.Open(dir, name, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		add(t, f, "a", "1")
		if err := <-removed; err != nil && !errors.Is(err, sessiondir.ErrInUse) && !errors.Is(err, sessiondir.ErrForeign) {
			t.Error(err)
		}
		if !exists(t, filepath.Join(dir, name, "session")) || !exists(t, filepath.Join(dir, name, "journal.jsonl")) {
			t.Fatalf("session %d was removed while it was open", i)
		}
		shut(t, f)
	}
}

// TestPrune discards a part of a session nobody uses, after a crash as well.
func TestPrune(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	path := aged(t, dir, "s", time.Hour)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	used, err := sessiondir.LastUsed(root, "s")
	if err != nil {
		t.Fatal(err)
	}
	spit(t, filepath.Join(path, ".tmp-files", "deep", "x"), nil) // by a process that was killed
	if err := os.Chmod(filepath.Join(path, ".tmp-files", "deep"), 0); err != nil {
		t.Fatal(err)
	}
	discard := func(s *os.Root) error { return sessiondir.Discard(s, "files") }
	if err := sessiondir.Prune(root, "s", discard); err != nil || exists(t, filepath.Join(path, "files")) || exists(t, filepath.Join(path, ".tmp-files")) {
		t.Errorf("%v", err)
	}
	if now, err := sessiondir.LastUsed(root, "s"); err != nil || !now.Equal(used) {
		t.Errorf("used %v, then %v, %v", used, now, err)
	}
	spit(t, filepath.Join(path, ".tmp-files", "deep", "x"), nil) // and which nobody discards again
	spit(t, filepath.Join(path, ".tmp-1"), nil)
	f := open(t, dir, "s")
	if exists(t, filepath.Join(path, ".tmp-files")) || exists(t, filepath.Join(path, ".tmp-1")) {
		t.Error("what a process left that was killed is there when the session goes on")
	}
	if got := recall(t, f, "a"); !slices.Equal(got, []string{"1"}) {
		t.Errorf("got %q", got)
	}
	if err := sessiondir.Prune(root, "s", discard); !errors.Is(err, sessiondir.ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	if err := sessiondir.Check(root, "s"); !errors.Is(err, sessiondir.ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	spit(t, filepath.Join(dir, "other", "file"), nil)
	if err := sessiondir.Check(root, "other"); !errors.Is(err, sessiondir.ErrForeign) {
		t.Errorf("foreign: %v", err)
	}
}
