//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// writePlace writes the real path of a name to where that leads, after it was judged.
func (a arena) writePlace(path string) error {
	n, err := Resolve(a.root, path)
	if err != nil {
		return err
	}
	defer n.Close()
	c := system
	c.sync = func(int) error { return nil } // it is not about the disk
	c.syncDir = c.sync
	_, err = putWith(n, c, n.Real)
	return err
}

// A directory that is a link to another half of the time: what was judged to go into
// the one never goes into the other.
func TestDraftRaceOfDirectories(t *testing.T) {
	t.Parallel()
	a, c := newArena(t), newTally()
	c.race(t, newSwapper(t, a.root, "d", "out"), func() (bool, error) {
		err := a.writePlace("d/f")
		a.escaped(t, a.in, "f", "d/f")
		a.escaped(t, a.out, "f", "out/f")
		return false, err
	})
	c.report(t)
	clean(t, a.root)
}

// The same for files that are not there yet.
func TestDraftRaceOfNewFiles(t *testing.T) {
	t.Parallel()
	a, c := newArena(t), newTally()
	c.race(t, newSwapper(t, a.root, "d", "out"), func() (bool, error) {
		err := a.writePlace("d/new")
		a.escaped(t, a.in, "new", "d/new")
		a.escaped(t, a.out, "new", "out/new")
		_ = a.in.Remove("new")
		_ = a.out.Remove("new")
		return false, err
	})
	c.report(t)
	clean(t, a.root)
}

// A file that trades places with a link all the time. What is taken from its place
// may have to be kept under another name, which ends a round.
func TestDraftRaceOfFiles(t *testing.T) {
	t.Parallel()
	c := newTally()
	for !c.enough() && !t.Failed() && time.Since(c.began) < testenv.Patience {
		a := newArena(t)
		c.race(t, newSwapper(t, a.root, "d/f", "../out/f"), func() (bool, error) {
			err := a.writePlace("d/f")
			a.escaped(t, a.out, "f", "out/f")
			left := litter(t, a.root)
			for _, path := range left {
				if err == nil || !strings.Contains(err.Error(), path) {
					t.Errorf("%v does not name %s", err, path)
				}
			}
			return len(left) > 0, err
		})
		a.whole(t)
	}
	c.report(t)
}

// whole checks that nothing but what was there or judged to go there is where it was
// raced for, and that the link is still somewhere.
func (a arena) whole(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(a.root, "d"))
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			links++
		} else if e.Name() != "g" {
			a.escaped(t, a.in, e.Name(), "d/f")
		}
	}
	if links != 1 {
		t.Errorf("%d links are left: %v", links, entries)
	}
}

// steps are the moments of a draft: before each of its system calls.
func steps(moment func()) calls {
	c := system
	c.unnamed = func(dir int, mode uint32) (int, error) { moment(); return system.unnamed(dir, mode) }
	c.link = func(fd, dir int, name string) error { moment(); return system.link(fd, dir, name) }
	c.named = func(dir int, name string, mode uint32) (int, error) {
		moment()
		return system.named(dir, name, mode)
	}
	c.mkdir = func(dir int, name string) error { moment(); return system.mkdir(dir, name) }
	c.write = func(fd int, p []byte) (int, error) { moment(); return system.write(fd, p) }
	c.sync = func(fd int) error { moment(); return system.sync(fd) }
	c.syncDir = func(dir int) error { moment(); return system.syncDir(dir) }
	c.exchange = func(dir int, a, b string) error { moment(); return system.exchange(dir, a, b) }
	c.move = func(dir int, from, to string) error { moment(); return system.move(dir, from, to) }
	c.rename = func(dir int, from, to string) error { moment(); return system.rename(dir, from, to) }
	c.unlink = func(dir int, name string) error { moment(); return system.unlink(dir, name) }
	return c
}

// The swap at every single step of a draft, for certain.
func TestDraftSwapAtEachStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, swapped, target string }{
		{"d/f", "d", "out"},
		{"d/f", "d/f", "../out/f"},
		{"d/new", "d", "out"},
		{"d/x/y/new", "d", "out"},
	} {
		for at, reached := 1, true; reached; at++ {
			reached = false
			a := newArena(t)
			n := resolve(t, a.root, c.path)
			s := newSwapper(t, a.root, c.swapped, c.target)
			count := 0
			sys := steps(func() {
				if count++; count == at {
					reached = true
					if err := s.swap(); err != nil {
						t.Error(err)
					}
				}
			})
			_, err := putWith(n, sys, n.Real)
			if err != nil && abi.CodeOf(err) != abi.CodeChanged {
				t.Errorf("%s swapped at step %d: %v", c.swapped, at, err)
			}
			if got := text(filepath.Join(a.root, "out/f")); got != "out/f" {
				t.Errorf("%s swapped at step %d: out/f holds %q", c.swapped, at, got)
			}
			if entries, _ := os.ReadDir(filepath.Join(a.root, "out")); len(entries) != 1 {
				t.Errorf("%s swapped at step %d: out holds %v", c.swapped, at, entries)
			}
			clean(t, a.root)
		}
	}
}

func TestDraftLeaksNoHandles(t *testing.T) {
	root := tree(t, "f", "d/")
	if err := os.Chmod(filepath.Join(root, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := openHandles()
	for i := range 100 {
		for _, path := range []string{"f", "d", "new/a/b/", "x/y/z/new", "f/x", "new"} {
			n, err := Resolve(root, path)
			if err != nil {
				t.Fatal(err)
			}
			if d, err := n.Draft(); err == nil {
				switch i % 3 {
				case 0:
					_ = d.Discard()
				case 1:
					_, _ = d.Commit(n.Info)
				case 2:
					_, _ = d.Commit(Info{Kind: abi.KindFile})
				}
			}
			_ = n.Close()
			if path == "x/y/z/new" {
				_ = os.RemoveAll(filepath.Join(root, "x"))
			}
		}
		_ = os.Remove(filepath.Join(root, "new"))
	}
	if after := openHandles(); after > before+8 {
		t.Errorf("%d handles before, %d after", before, after)
	}
}
