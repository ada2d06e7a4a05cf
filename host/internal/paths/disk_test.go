package paths

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// TestDisk follows links and finds matches in a tree that a view shows at another path. The
// results are those of Real in the same tree at that path.
func TestDisk(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shown, lies := filepath.Join(root, "shown"), filepath.Join(root, "lies")
	for _, top := range []string{lies, shown} {
		for _, err := range []error{
			os.MkdirAll(filepath.Join(top, "dir/sub"), 0o700), os.WriteFile(filepath.Join(top, "file"), nil, 0o600),
			os.Symlink("dir", filepath.Join(top, "link")), os.Symlink(shown+"/link/sub", filepath.Join(top, "absolute")),
			os.Symlink("link/../file", filepath.Join(top, "back")), os.Symlink("loop", filepath.Join(top, "loop")),
			os.Symlink("none/there", filepath.Join(top, "broken")), os.Symlink(root+"/outside/x", filepath.Join(top, "out")),
			os.Symlink("/proc/self/root", filepath.Join(top, "magic")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	d := Disk{view{shown, lies}}
	for _, name := range []string{"file", "dir/sub", "link/sub", "absolute", "absolute/new", "back", "loop", "loop/x", "broken", "broken/x", "out", "out/../y", "none", "none/x", "file/x", "magic", "../shown/link"} {
		path := shown + "/" + name
		want := Real(path)
		switch name {
		case "file/x":
			want = path // which tools refuse, and where commands fail
		case "loop", "loop/x":
			want = "" // then a person is asked
		}
		if got := d.OfCommand(path); got != want {
			t.Errorf("%s leads to %q, and not to %q", name, got, want)
		}
	}
	if err := os.RemoveAll(shown); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dir/sub", filepath.Join(lies, "new")); err != nil {
		t.Fatal(err)
	}
	c := permissions.Command{Parts: []permissions.Part{{Accesses: []permissions.Access{{Kind: permissions.AccessRead, Target: shown, Real: shown, Glob: shown + "/ne*"}}}}}
	d.AddMatches(&c, func(string) bool { return false }, func() bool { return true })
	if all := c.Parts[0].Accesses; len(all) != 2 || all[1].Real != shown+"/dir/sub" || !all[1].Tree {
		t.Errorf("the pattern matches %+v", all)
	}
}

// view shows the directory lies at the path shown.
type view struct{ shown, lies string }

func (v view) At(path string) string {
	if Below(path, v.shown) {
		return v.lies + strings.TrimPrefix(path, v.shown)
	}
	return path
}

func (view) Run(context.Context, string, []string, []string, []byte, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}
