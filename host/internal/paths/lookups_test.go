package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// seen is what lookups answer about all names of a small tree, to compare.
func seen(l *Lookups, root string) map[string]string {
	out := make(map[string]string)
	kind := func(err error) string { return fmt.Sprint(err == nil, alike(err, fs.ErrNotExist)) }
	var ask func(dir string, deep int)
	ask = func(dir string, deep int) {
		at := l.Locate(dir)
		names, err := l.Names(dir)
		content, read := l.Beginning(dir)
		out[dir] = fmt.Sprint(at.Path, kind(at.Err), names, kind(err), string(content), kind(read))
		for _, name := range []string{"a", "b", "c"} {
			if deep > 0 {
				ask(filepath.Join(dir, name), deep-1)
			}
		}
	}
	ask(root, 3)
	return out
}

// TestLookupsRenew has renewed lookups see what new ones do, whatever was done to files: one
// change or several, within a tick of the file system's clock or long after the last look.
func TestLookupsRenew(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	for seed := range 10 {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			testenv.BoundByPermissions(t)
			testRenewing(t, &changer{Rand: rand.New(rand.NewPCG(uint64(seed), 1)), root: Real(t.TempDir())})
		})
	}
}

func testRenewing(t *testing.T, c *changer) {
	t.Helper()
	t.Cleanup(func() { // opens what the test closed, for it to be removed
		_ = filepath.WalkDir(c.root, func(path string, _ fs.DirEntry, _ error) error { _ = os.Chmod(path, 0o700); return nil })
	})
	for _, dir := range []string{"/in", "/out"} {
		if err := os.Mkdir(c.root+dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	kept := new(Lookups)
	for range testenv.Sample(400) {
		if c.IntN(5) == 0 { // the directories are left alone for long enough to be relied on
			time.Sleep(2 * settled)
			kept.Renew()
		}
		did := c.change()
		if c.IntN(5) == 0 {
			did += "\n" + c.change()
		}
		kept.Renew()
		got := seen(kept, c.root+"/in")
		for name, want := range seen(new(Lookups), c.root+"/in") {
			if got[name] != want {
				t.Fatalf("after %s: %s is\n%s, not\n%s", did, name, got[name], want)
			}
		}
	}
}

// changer changes files below a directory.
type changer struct {
	*rand.Rand
	root string
}

// path is one of in, which is looked at, or of out, where links lead.
func (c *changer) path() string {
	p := c.root + []string{"/in", "/in", "/out"}[c.IntN(3)]
	for range 1 + c.IntN(3) {
		p = filepath.Join(p, string(rune('a'+c.IntN(3))))
	}
	return p
}

// change does something, or fails to, and says what.
func (c *changer) change() string {
	p, to := c.path(), c.path()
	switch c.IntN(12) {
	case 0, 1, 2:
		return fmt.Sprintln("writing", p, os.WriteFile(p, []byte{byte('0' + c.IntN(10))}, 0o600))
	case 3, 4, 5:
		return fmt.Sprintln("making", p, os.Mkdir(p, 0o700))
	case 6, 7:
		if c.IntN(2) == 0 {
			to = []string{"../b", "a", "."}[c.IntN(3)]
		}
		return fmt.Sprintln("a link", p, to, os.Symlink(to, p))
	case 8:
		return fmt.Sprintln("renaming", p, to, os.Rename(p, to))
	case 9:
		return fmt.Sprintln("removing", p, os.Remove(p))
	case 10:
		mode := []fs.FileMode{0o500, 0o100, 0}[c.IntN(3)]
		return fmt.Sprintln("closing", p, os.Chmod(p, mode))
	default:
		return fmt.Sprintln("opening", p, os.Chmod(p, 0o700))
	}
}

// settled is for how long directories are left alone before they are relied on.
const settled = 25 * time.Millisecond

// TestLookupsAreKept looks at nothing again in directories that were left alone, and says
// so; it would not notice what a test puts there instead.
func TestLookupsAreKept(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux)
	root, made := Real(t.TempDir()), time.Now()
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var l Lookups
	look := func() (string, int) {
		names, _ := l.Names(root)
		return fmt.Sprint(names, l.Locate(root+"/none").Err == nil), l.Version()
	}
	first, version := look()
	l.Renew()
	if time.Since(made) < settled-5*time.Millisecond && l.dirs[root].state != (State{}) {
		t.Error("relied on is a directory that has just changed")
	}
	time.Sleep(2 * settled)
	l.Renew()
	l.listed[root], l.located[root+"/none"] = result[string]{}, Location{Path: root + "/none"}
	l.Renew()
	if got, now := look(); got != "[] true" || now != version {
		t.Errorf("looked again: %s, version %d after %d", got, now, version)
	}
	if err := os.WriteFile(filepath.Join(root, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.Renew()
	if got, now := look(); first != "[file] false" || got != "[file other] false" || now == version {
		t.Errorf("at first %s, then %s, version %d after %d", first, got, now, version)
	}
}

// TestLookupsFollowNewLinks follows a link that could not be looked at before, and then led
// nowhere, once it leads somewhere.
func TestLookupsFollowNewLinks(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	testenv.BoundByPermissions(t)
	root := Real(t.TempDir())
	closed, link, other, target := root+"/closed", root+"/closed/link", root+"/other", root+"/target"
	var l Lookups
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return errors.Join(os.Mkdir(closed, 0), os.Mkdir(target, 0o700)) }, link},
		{func() error {
			return errors.Join(os.Chmod(closed, 0o700), os.Symlink(other, link), os.Symlink(link, other))
		}, link},
		{func() error { return errors.Join(os.Remove(other), os.Symlink(target, other)) }, target},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			l.Renew()
			if got := l.Follow(link); got != step.want {
				t.Errorf("the link leads to %s, not %s", got, step.want)
			}
			time.Sleep(settled)
		}
	}
}
