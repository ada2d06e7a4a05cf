package filelock

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOldLocksAreNone: whoever locked a file that was taken away meanwhile, or
// replaced, holds nothing.
func TestOldLocksAreNone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !current(f, path) {
		t.Error("the file is not the one at its path")
	}
	if err := os.Rename(path, path+".old"); err != nil || current(f, path) {
		t.Errorf("a file that is gone: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil || current(f, path) {
		t.Errorf("another file: %v", err)
	}
}
