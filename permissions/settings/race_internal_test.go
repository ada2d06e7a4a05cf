package settings

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreReadWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.toml")
	tests := map[string]struct {
		writes int
		want   string
	}{"changed once": {1, "#1"}, "changed twice": {2, "#12"}, "always changing": {readTries, ""}}
	for name, tt := range tests {
		put(t, path, "#")
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		content, _, err := readStill(f, func(f *os.File) ([]byte, fs.FileInfo, error) {
			content, info, err := readWhole(f)
			if n++; n <= tt.writes {
				if _, err := f.WriteString(string(rune('0' + n))); err != nil {
					t.Fatal(err)
				}
			}
			return content, info, err
		})
		if string(content) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v", name, content, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEditorsAreNotOverwritten has an editor, which knows no lock, save a file
// while a rule is added to it.
func TestEditorsAreNotOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.toml")
	target := Target{Kind: permissions.SourceUser, Path: path}
	put(t, path, "# old\n")
	saves := 0
	add := func(w *writable) (bool, error) {
		if saves++; saves == 1 {
			put(t, path, "# new\n")
		}
		return w.add(permissions.Allow, Rule{Text: "X"})
	}
	if added, err := target.change(true, add); !added || err != nil {
		t.Fatal(added, err)
	}
	content, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(content), "# new\n\n[permissions]") {
		t.Errorf("%q, %v", content, err)
	}
}
