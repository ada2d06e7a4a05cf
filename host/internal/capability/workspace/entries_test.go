package workspace_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// TestFirstAndNext reads directories that one read has all of, and one of many: each
// entry comes once, and that they are all is said of the small ones alone.
func TestFirstAndNext(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 300, 700, 3000} {
		root := t.TempDir()
		for i := range n {
			if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("a rather long name %060d", i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		node, err := workspace.Resolve(root, root)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := node.OpenDir()
		if err != nil {
			t.Fatal(err)
		}
		var entries workspace.Entries
		seen := make(map[string]int)
		list, all, err := dir.First(&entries)
		if err != nil || all && len(list) != n || all != (n <= 300) {
			t.Fatalf("%d of %d, all %v: %v", len(list), n, all, err)
		}
		for ; err == nil; list, err = dir.Next(&entries) {
			for _, e := range list {
				seen[e.Name]++
			}
		}
		if !errors.Is(err, io.EOF) || len(seen) != n {
			t.Errorf("%d of %d: %v", len(seen), n, err)
		}
		for name, times := range seen {
			if times != 1 {
				t.Errorf("%s came %d times", name, times)
			}
		}
		if err := errors.Join(dir.Close(), node.Close()); err != nil {
			t.Error(err)
		}
	}
}
