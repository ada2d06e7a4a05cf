package shell

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestLongMove stops a move that takes too long, and moves back what was moved.
func TestLongMove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"d/a", "d/sub/b", "d/z"} {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(path), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	before := testenv.Tree(t, dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := (moving{root, time.Now().Add(-time.Second)}).dir("d", "e"); !errors.Is(err, errLongMove) {
		t.Fatal(err)
	}
	if err := errors.Join(root.Rename("d/a", "e/a"), root.Mkdir("e/sub", 0o700), root.Rename("d/sub/b", "e/sub/b")); err != nil { // as if there had been time
		t.Fatal(err)
	}
	if err := (moving{root: root}).dir("e", "d"); err != nil {
		t.Fatal(err)
	}
	if d := testenv.TreeDiff(before, testenv.Tree(t, dir)); d != "" {
		t.Error(d)
	}
}
