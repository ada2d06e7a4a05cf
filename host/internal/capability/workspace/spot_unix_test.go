//go:build unix

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// spots are the changes that a spot can make to the file "it", whose content is "it" at first.
var spots = map[string]struct {
	make func(s *Spot) error
	done func(path string) bool
}{
	"remove": {func(*Spot) error { return nil }, func(path string) bool { _, err := os.Lstat(path); return os.IsNotExist(err) }},
	"file": {func(s *Spot) error {
		return s.MakeFile(func(f File) error { _, err := f.Write([]byte("new")); return err }, 0o640)
	}, func(path string) bool { return text(path) == "new" }},
	"link": {func(s *Spot) error { return s.MakeLink("new") }, func(path string) bool { to, _ := os.Readlink(path); return to == "new" }},
	"directory": {func(s *Spot) error { return s.MakeDir(0o700) }, func(path string) bool {
		info, err := os.Lstat(path)
		return err == nil && info.IsDir() && info.Mode().Perm() == 0o700
	}},
}

// spotWith returns a spot with the system calls of a test.
func spotWith(t *testing.T, path string, c calls) *Spot {
	t.Helper()
	s, err := NewSpot(path, false)
	if err != nil {
		t.Fatal(err)
	}
	s.calls = c
	s.ground.calls = &s.calls
	return s
}

// TestSpotFails makes the system fail at each step: the former file is still there, or the
// error says that it may not be, and no temporary file is left.
func TestSpotFails(t *testing.T) {
	t.Parallel()
	failure := errors.New("the disk fails")
	for name, c := range spots {
		for at, reached := 1, true; reached; at++ {
			reached = false
			root := tree(t, "it")
			path := filepath.Join(root, "it")
			was, _, err := Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			count := 0
			failing := failingAt(func() error {
				if count++; count == at {
					reached = true
					return failure
				}
				return nil
			})
			s := spotWith(t, path, failing)
			err = c.make(s)
			if err == nil {
				err = s.Commit(was, nil)
			}
			err = errors.Join(err, s.Discard())
			switch {
			case reached != (err != nil):
				t.Errorf("%s, step %d: %v", name, at, err)
			case err == nil && !c.done(path):
				t.Errorf("%s: it is %q", name, text(path))
			case err != nil && !errors.Is(err, ErrUncertain) && text(path) != "it":
				t.Errorf("%s, step %d: it is %q with %v", name, at, text(path), err)
			}
			if !errors.Is(err, ErrUncertain) {
				clean(t, root)
			}
		}
	}
}

// failingAt returns the system calls of a spot with fault called before each. A call that
// fails once works again afterwards, so that what was made can be removed.
func failingAt(fault func() error) calls {
	c := system
	c.write = func(fd int, p []byte) (int, error) {
		if err := fault(); err != nil {
			return 0, err
		}
		return system.write(fd, p)
	}
	c.sync = func(fd int) error { return errors.Join(fault(), system.sync(fd)) }
	c.syncDir = func(dir int) error { return errors.Join(fault(), system.syncDir(dir)) }
	c.exchange = func(dir int, a, b string) error {
		if err := fault(); err != nil {
			return err
		}
		return system.exchange(dir, a, b)
	}
	c.move = func(dir int, from, to string) error {
		if err := fault(); err != nil {
			return err
		}
		return system.move(dir, from, to)
	}
	return c
}

// TestSpotWithoutExchange makes all changes where the file system cannot exchange names.
func TestSpotWithoutExchange(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"file", "link", "directory"} {
		for name, c := range spots {
			root := tree(t)
			path := filepath.Join(root, "it")
			plain := system
			plain.exchange = func(int, string, string) error { return unix.EINVAL }
			plain.move = func(int, string, string) error { return unix.EINVAL }
			first := spotWith(t, path, plain)
			if err := errors.Join(spots[from].make(first), first.Commit(Info{}, nil)); err != nil {
				t.Fatalf("%s: %v", from, err)
			}
			was, _, err := Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			s := spotWith(t, path, plain)
			if err := errors.Join(c.make(s), s.Commit(was, nil)); err != nil || !c.done(path) {
				t.Errorf("%s to %s: %v", from, name, err)
			}
			clean(t, root)
		}
	}
}

func TestLstat(t *testing.T) {
	t.Parallel()
	root := tree(t, "d/f", "link -> d", "loop -> loop")
	for path, want := range map[string]string{
		"d": abi.KindDirectory, "d/f": abi.KindFile, "link": abi.KindSymlink, "loop": abi.KindSymlink, "no": "",
		"link/f": "changed", "no/f": "changed", "d/f/x": "changed",
	} {
		info, target, err := Lstat(filepath.Join(root, path))
		got := info.Kind
		if err != nil {
			got = string(abi.CodeOf(err))
		}
		if got != want || path == "link" && target != "d" {
			t.Errorf("%s: %q, %q, %v", path, got, target, err)
		}
	}
}
