package workspace

import (
	"errors"
	"path/filepath"
	"testing"
)

// Where the kernel cannot refuse links, the walk does. The test is not parallel:
// it switches a thing of the process.
func TestGroundWithoutShortCut(t *testing.T) {
	before := noOpenat2.Load()
	noOpenat2.Store(true)
	defer noOpenat2.Store(before)
	root := tree(t, "d/e/f", "link -> d", "file")
	for path, want := range map[string]error{"d/e": nil, "link/e": errReplaced, "d/missing": errReplaced, "file": errReplaced} {
		g := &ground{calls: &system, path: filepath.Join(root, path), fd: -1}
		if err := g.find(false); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		g.close()
	}
	if _, err := put(resolve(t, root, "d/e/f"), "content"); err != nil {
		t.Error(err)
	}
	if _, err := put(resolve(t, root, "link/x/y/new"), "content"); err != nil {
		t.Error(err)
	}
	if got := text(filepath.Join(root, "d/x/y/new")); got != "content" {
		t.Error(got)
	}
}
