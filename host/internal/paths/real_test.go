package paths

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestLookups resolves paths to where the system has them, as far as they exist.
func TestLookups(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, err := range []error{
		os.MkdirAll(at("dir/sub"), 0o700), os.WriteFile(at("dir/file"), nil, 0o600), os.Symlink("dir", at("link")),
		os.Symlink("nothing/there", at("broken")), os.Symlink("loop", at("loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var r Lookups
	for name, want := range map[string]string{
		"dir/file": "dir/file", "link/sub": "dir/sub", "link/none/more": "dir/none/more", "broken": "nothing/there",
		"dir/file/x": "dir/file/x",
	} {
		for range 2 {
			if got := r.Follow(at(name)); got != at(want) {
				t.Errorf("%s lies at %s, not %s", name, got, at(want))
			}
		}
		if full := Real(at(name)); full != at(want) && name != "dir/file/x" {
			t.Errorf("the long way it is %s", full)
		}
	}
	got := r.Existing([]string{at("link/file"), at("dir/file"), at("none"), at("broken"), at("loop")})
	if want := []string{at("dir/file"), at("loop")}; !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
}
