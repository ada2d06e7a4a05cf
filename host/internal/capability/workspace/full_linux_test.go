package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// On a full disk the former content stays, and the error says what to do.
func TestDraftFullDisk(t *testing.T) {
	dir := testenv.SmallDisk(t, 256<<10)
	if dir == "" {
		return
	}
	for _, set := range []func(*calls){func(*calls) {}, nameless} {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("former"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := system
		set(&c)
		for _, path := range []string{"f", "new", "x/y/new"} {
			_, err := putWith(resolve(t, dir, path), c, strings.Repeat("content", 60_000))
			if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "make room") {
				t.Errorf("%s: %v", path, err)
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 || text(filepath.Join(dir, "f")) != "former" {
			t.Errorf("there is %v with %q, %v", entries, text(filepath.Join(dir, "f")), err)
		}
		// What was taken is given back: there is room for less.
		if _, err := putWith(resolve(t, dir, "f"), c, strings.Repeat("content", 30_000)); err != nil {
			t.Error(err)
		}
	}
}
