package testenv_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

func TestTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Join(dir, "d"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "d", "f"), []byte("one\n"), 0o600))
	was := testenv.Tree(t, dir)
	if d := testenv.TreeDiff(was, testenv.Tree(t, dir+"/.")); d != "" {
		t.Errorf("unchanged: %s", d)
	}
	long := strings.Repeat("x", 2000)
	for _, step := range []struct {
		change func() error
		want   string
	}{
		{func() error { return os.WriteFile(filepath.Join(dir, "d", "f"), []byte("two\n"), 0o600) }, `"two\n"`},
		{func() error { return os.WriteFile(filepath.Join(dir, "d", "f"), []byte(long), 0o600) }, "2000 bytes"},
		{func() error { return os.WriteFile(filepath.Join(dir, "d", "f"), []byte(long[1:]+"y"), 0o600) }, "2000 bytes"},
		{func() error { return os.Remove(filepath.Join(dir, "d", "f")) }, "got "},
		{func() error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) }, "want , got"},
	} {
		must(step.change())
		now := testenv.Tree(t, dir)
		if d := testenv.TreeDiff(was, now); strings.Count(d, "\n") != 0 || !strings.Contains(d, step.want) {
			t.Errorf("want %q, got %q", step.want, d)
		}
		was = now
	}
}
