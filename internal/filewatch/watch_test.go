package filewatch_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/filewatch"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestMain has tests run side by side that wait for files to change.
func TestMain(m *testing.M) {
	testenv.Waiting()
	m.Run()
}

// bell counts what rings it.
type bell chan struct{}

func (b bell) ring() { b <- struct{}{} }

// wait wants a ring, and takes those that follow shortly with it: one change may
// show in several steps.
func (b bell) wait(t *testing.T, what string) {
	t.Helper()
	select {
	case <-b:
	case <-time.After(testenv.Patience):
		t.Fatalf("no word of it: %s", what)
	}
	for {
		select {
		case <-b:
		case <-time.After(5 * filewatch.Gather):
			return
		}
	}
}

func newBell() bell { return make(bell, 1000) }

func put(path, text string) func() error {
	return func() error {
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
}

// foldersIn lists a directory and those in it, as somebody would who watches a tree
// of two levels.
func foldersIn(dir string) func() []string {
	return func() []string {
		files := []string{dir}
		entries, _ := os.ReadDir(dir) // none where it is not there
		for _, e := range entries {
			files = append(files, filepath.Join(dir, e.Name()))
		}
		return files
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	t.Run("told by the system", func(t *testing.T) {
		t.Parallel()
		testenv.Permitted(t, testenv.Linux) // others look for new directories
		testWatch(t, true, time.Hour)
	})
	t.Run("looking", func(t *testing.T) {
		t.Parallel()
		testWatch(t, false, 20*time.Millisecond)
	})
}

func testWatch(t *testing.T, told bool, poll time.Duration) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "config", "app")
	file, other := filepath.Join(dir, "settings"), filepath.Join(root, "other")
	dropIn := filepath.Join(root, "drop-in")
	tree := filepath.Join(root, "tree")
	b := newBell()
	list := func() []string { return append(foldersIn(tree)(), file, dropIn) }
	w := filewatch.WatchBy(context.Background(), list, b.ring, told, poll)
	defer w.Close()
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"created, with its directory", put(file, "a")},
		{"changed", put(file, "bb")},
		{"emptied", func() error { return os.Truncate(file, 0) }},
		{"replaced", func() error { return errors.Join(put(other, "c")(), os.Rename(other, file)) }},
		{"changed after that", put(file, "d")},
		{"deleted", func() error { return os.Remove(file) }},
		{"created again", put(file, "e")},
		{"its directory deleted", func() error { return os.RemoveAll(dir) }},
		{"made again", put(file, "f")},
		{"its directory moved away", func() error { return os.Rename(dir, filepath.Join(root, "moved")) }},
		{"another in its place", put(file, "g")},
		{"changed in that", put(file, "h")},
		{"made a link", func() error {
			return errors.Join(put(other, "i")(), os.Remove(file), os.Symlink(other, file))
		}},
		{"changed behind the link", put(other, "k")},
		{"a drop-in", put(filepath.Join(dropIn, "a"), "")},
		{"changed drop-in", put(filepath.Join(dropIn, "a"), "x")},
		{"a folder that is listed once it is there", put(filepath.Join(tree, "one", "file"), "x")},
		{"changed in that folder", put(filepath.Join(tree, "one", "file"), "y")},
		{"a second folder", put(filepath.Join(tree, "two", "file"), "x")},
		{"changed in the second", put(filepath.Join(tree, "two", "file"), "yy")},
		{"the first one deleted", func() error { return os.RemoveAll(filepath.Join(tree, "one")) }},
		{"the tree deleted", func() error { return os.RemoveAll(tree) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(step.name, err)
		}
		b.wait(t, step.name)
	}
}

// A directory that another one takes the place of at once is watched anew: the other
// may have its number, and one that comes back is the same, while the system watches
// neither.
func TestWatchDirectoriesInPlaceOfOthers(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux) // others look for new directories
	root := t.TempDir()
	dir, target := filepath.Join(root, "plugins"), filepath.Join(root, "elsewhere", "target")
	link := filepath.Join(root, "link")
	again := func(dir string) func() error {
		return func() error { return errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)) }
	}
	thereAndBack := func() error { return errors.Join(os.Rename(dir, dir+"~"), os.Rename(dir+"~", dir)) }
	if err := errors.Join(again(dir)(), again(target)(), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	b := newBell()
	w := filewatch.WatchBy(context.Background(), filewatch.Fixed(dir, link), b.ring, true, time.Hour)
	defer w.Close()
	for i, step := range []struct {
		name string
		do   func() error
		in   string
	}{
		{"made again", again(dir), dir},
		{"made again once more", again(dir), dir},
		{"moved away and back", thereAndBack, dir},
		{"made again behind the link", again(target), target},
	} {
		if err := step.do(); err != nil {
			t.Fatal(step.name, err)
		}
		b.wait(t, step.name)
		if err := put(filepath.Join(step.in, "file"), strings.Repeat("x", i))(); err != nil {
			t.Fatal(step.name, err)
		}
		b.wait(t, "a file in what was "+step.name)
	}
}

// What a link leads to may come later.
func TestWatchLinksToNothing(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux) // others look for new directories
	root := t.TempDir()
	b := newBell()
	for i, to := range []string{filepath.Join(root, "far", "deep", "target"), filepath.Join("near", "target")} {
		link, target := filepath.Join(root, strconv.Itoa(i)), to
		if !filepath.IsAbs(to) {
			target = filepath.Join(root, to)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o700), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
		w := filewatch.WatchBy(context.Background(), filewatch.Fixed(link), b.ring, true, time.Hour)
		t.Cleanup(w.Close)
		if err := os.Mkdir(target, 0o700); err != nil {
			t.Fatal(err)
		}
		b.wait(t, "made behind the link to "+to)
		if err := put(filepath.Join(target, "file"), "x")(); err != nil {
			t.Fatal(err)
		}
		b.wait(t, "a file behind the link to "+to)
	}
}

// Many files at once are a few changes, not many.
func TestWatchManyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBell()
	w := filewatch.Watch(context.Background(), filewatch.Fixed(dir), b.ring)
	began := time.Now()
	for i := range 1000 {
		if err := put(filepath.Join(dir, strconv.Itoa(i)), "x")(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(300 * time.Millisecond)
	for deadline := time.Now().Add(testenv.Patience); len(b) == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	w.Close()
	// What happens within a tenth of a second is told at once.
	if most := int(time.Since(began)/(100*time.Millisecond)) + 1; len(b) == 0 || len(b) > most {
		t.Errorf("it rang %d times, want one to %d", len(b), most)
	}
}

// Where the system refuses to watch, looking does, and somebody is told.
func TestWatchIsRefused(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux) // elsewhere watching needs no right to read
	dir := filepath.Join(t.TempDir(), "plugins")
	if err := os.Mkdir(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	testenv.BoundByPermissions(t)
	b := newBell()
	w := filewatch.WatchBy(context.Background(), filewatch.Fixed(dir), b.ring, true, 20*time.Millisecond)
	defer w.Close()
	if err := w.Err(); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("got %v; want that it cannot be watched", err)
	}
	if err := put(filepath.Join(dir, "file"), "x")(); err != nil {
		t.Fatal(err)
	}
	b.wait(t, "a file that the system does not tell of")
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(testenv.Patience); w.Err() != nil && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if err := w.Err(); err != nil {
		t.Errorf("after it may be watched: %v", err)
	}
}

func TestWatchTellsOfNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	if err := put(file, "")(); err != nil {
		t.Fatal(err)
	}
	b := newBell()
	w := filewatch.Watch(context.Background(), filewatch.Fixed(file), b.ring)
	for range 5 {
		_, err := os.ReadFile(file)
		if err := errors.Join(err, put(other, "x")()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	w.Close()
	w.Close()
	if len(b) != 0 {
		t.Errorf("it rang %d times", len(b))
	}
}

// TestNothingIsToldAfterClose changes a file as fast as it can while watchers are
// closed, or their context ends.
func TestNothingIsToldAfterClose(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				if err := put(file, strings.Repeat("#", i%100))(); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	for i := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		closed := false
		w := filewatch.WatchBy(ctx, filewatch.Fixed(file), func() {
			if closed {
				t.Error("told after it was closed")
			}
		}, true, time.Hour)
		time.Sleep(time.Duration(i) * filewatch.Gather / 8)
		if i%2 == 0 {
			cancel()
		}
		w.Close()
		closed = true // the race detector tells if a call is still under way
		cancel()
	}
	close(stop)
	<-done
}

// TestWatchLater: changes are told from the beginning, but the system is only asked
// for them once some time has passed. It runs by itself, to count what is open.
func TestWatchLater(t *testing.T) { //nolint:paralleltest // see above
	file := filepath.Join(t.TempDir(), "file")
	b := newBell()
	before := listening(t)
	began := time.Now()
	w := filewatch.WatchLater(t.Context(), filewatch.Fixed(file), b.ring)
	defer w.Close()
	if n := listening(t); n != before && time.Since(began) < time.Second {
		t.Errorf("it listens from the beginning: %d, %d", before, n)
	}
	if err := put(file, "one")(); err != nil {
		t.Fatal(err)
	}
	b.wait(t, "made at once")
	if before >= 0 { // else nobody can tell
		for began := time.Now(); listening(t) == before; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > testenv.Patience {
				t.Fatal("it never listens")
			}
		}
	}
	if err := put(file, "longer")(); err != nil {
		t.Fatal(err)
	}
	b.wait(t, "changed later")
}

// listening counts what this process has open to be told of changes; -1 where the
// system does not say.
func listening(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	n := 0
	for _, fd := range open {
		if to, _ := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); strings.Contains(to, "inotify") {
			n++
		}
	}
	return n
}
