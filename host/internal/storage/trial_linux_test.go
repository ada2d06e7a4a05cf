package storage_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/storage"
)

// TestMountPoints discards the directories that a trial made to mount others on, and nothing that the
// command changed in directories of the same names.
func TestMountPoints(t *testing.T) {
	t.Parallel()
	shown, err := os.MkdirTemp("/tmp", "test-*") //nolint:usetesting // the name must be one in /tmp
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(shown) })
	for _, name := range []string{"point", "changed"} {
		must(t, os.Mkdir(filepath.Join(shown, name), 0o755))
	}
	s := open(t, options(t))
	temp, err := s.Temp()
	must(t, err)
	in := filepath.Join(temp, filepath.Base(shown))
	must(t, os.MkdirAll(filepath.Join(in, "changed"), 0o755))
	trial, err := s.NewTrial(capability.Call{ID: "call", Tool: "Bash"})
	must(t, err)
	defer func() { must(t, trial.Close()) }()
	layers, end, err := trial.Begin([]string{temp})
	must(t, err)
	upper := filepath.Join(layers[0].Upper, filepath.Base(shown))
	must(t, os.MkdirAll(filepath.Join(upper, "point"), 0o755))
	must(t, os.Mkdir(filepath.Join(upper, "changed"), 0o700))
	must(t, os.WriteFile(filepath.Join(upper, "changed", "f"), []byte("f\n"), 0o600))
	must(t, trial.Scan(t.Context(), time.Now(), capability.Call{ID: "call", Tool: "Bash"}))
	end()
	list, err := trial.Changes(t.Context())
	must(t, err)
	got := paths(in, list)
	if want := []string{"changed", "changed/f"}; !slices.Equal(got, want) {
		t.Errorf("the trial changed %q, want %q", got, want)
	}
}

// paths returns the paths of a list relative to a directory.
func paths(dir string, list []storage.Modified) (names []string) {
	for _, m := range list {
		name, _ := filepath.Rel(dir, m.Path)
		names = append(names, name)
	}
	return names
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
