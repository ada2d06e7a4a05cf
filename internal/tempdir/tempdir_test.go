package tempdir_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/internal/tempdir"
)

// TestSweep: of all that lies among temporary files, only what was left goes.
func TestSweep(t *testing.T) {
	temp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	for name, files := range map[string][]string{
		"toolquay-1":         {"lock", "closed/file"}, // its process was killed
		"toolquay-2":         nil,                     // the same, before it had a lock
		"toolquay-3":         {"file"},                // of something else
		"toolquay-something": nil,
		"toolquay-":          nil,
		"other-1":            {"lock"},
	} {
		if err := os.Mkdir(filepath.Join(temp, name), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			path := filepath.Join(temp, name, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(filepath.Join(temp, "toolquay-1/closed"), 0o500); err != nil {
		t.Fatal(err)
	}
	mine, err := tempdir.Make()
	if err != nil {
		t.Fatal(err)
	}
	tempdir.Sweep(t.Context(), slog.New(slog.DiscardHandler))
	want := []string{"other-1", "toolquay-", "toolquay-3", filepath.Base(mine.Path), "toolquay-something"}
	if left := names(t, temp); !same(left, want) {
		t.Errorf("there are %q; want %q", left, want)
	}
	for range 2 {
		if err := mine.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(mine.Path); !os.IsNotExist(err) {
		t.Errorf("a closed one is left: %v", err)
	}
}

func same(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
