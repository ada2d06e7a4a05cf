package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestSyncAll syncs many drafts through their file system, and few drafts, or one that was written since, one by one.
func TestSyncAll(t *testing.T) {
	t.Parallel()
	if !tellsWriteErrors() {
		testenv.Missing(t, "Linux 5.8")
	}
	c := system
	c.sync = ioError
	dir := t.TempDir()
	drafts := func(count int) (list []*Draft) {
		for i := range count {
			n, err := Resolve(dir, filepath.Join(dir, fmt.Sprint(count, "-", i)))
			if err != nil {
				t.Fatal(err)
			}
			s, err := stageWith(n, c)
			if err != nil {
				t.Fatal(err)
			}
			d := &Draft{target: n.Target, staging: s}
			if _, err := d.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Discard(); _ = n.Close() })
			list = append(list, d)
		}
		return list
	}
	many := drafts(manyDrafts)
	if err := SyncAll(many); err != nil {
		t.Fatal(err)
	}
	if _, err := many[0].Commit(Info{}); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(manyDrafts, "-", 0))); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := many[1].Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	if err := many[1].Sync(); err == nil {
		t.Error("what was written since is not written out")
	}
	if err := SyncAll(drafts(2)); err == nil {
		t.Error("few are not written out one by one")
	}
}
