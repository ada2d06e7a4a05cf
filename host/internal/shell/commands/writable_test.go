package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// TestWritable makes what settings have commands write in, and says what cannot be.
func TestWritable(t *testing.T) {
	t.Parallel()
	root := paths.Real(t.TempDir())
	home := filepath.Join(root, "home")
	for _, dir := range []string{home, filepath.Join(root, "there")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"a/new/one": "", "there": "", "home/.cache/x": "",
		"file": "not a directory", "file/below": "not a directory", "home": "the home lies in it", ".": "the home lies in it", "link": "the home lies in it",
	} {
		f, s := newFake(t, Options{Writable: []string{filepath.Join(root, dir)}, Sandbox: sandbox.Options{Home: home}})
		for range 2 {
			_, err := s.SandboxPolicy(t.Context(), true, true)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", dir, err, want)
			}
		}
		if info, err := os.Stat(filepath.Join(root, dir)); want == "" && (err != nil || !info.IsDir()) {
			t.Errorf("%s was not made: %v", dir, err)
		}
		if _, err := s.SandboxPolicy(t.Context(), true, false); err != nil {
			t.Errorf("%s, of a command that only reads: %v", dir, err)
		}
		if entries, err := os.ReadDir(filepath.Join(root, "there")); err != nil || len(entries) > 0 {
			t.Errorf("trying left %v, %v", entries, err)
		}
		_ = f
	}
	for _, dir := range []string{"/proc/x", "/dev/shm/x", "relative"} {
		_, s := newFake(t, Options{Writable: []string{dir}})
		if _, err := s.SandboxPolicy(t.Context(), true, true); err == nil {
			t.Errorf("%s may be written in", dir)
		}
	}
}

// TestWritableInside: a directory that a command may have replaced by a link is not opened by
// its own path.
func TestWritableInside(t *testing.T) {
	t.Parallel()
	dir, elsewhere := paths.Real(t.TempDir()), paths.Real(t.TempDir())
	o := Options{Writable: []string{dir, dir + "/in"}}
	f, s := newFake(t, o)
	s.runner.options.Writable = append(s.runner.options.Writable, f.dir+"/out")
	for _, link := range []string{dir + "/in", f.dir + "/out"} {
		if err := os.Symlink(elsewhere, link); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.SandboxPolicy(t.Context(), true, true)
	if want := []string{f.dir, dir}; err != nil || !slices.Equal(p.Working, want) {
		t.Errorf("writable are %q (%v), want %q", p.Working, err, want)
	}
}
