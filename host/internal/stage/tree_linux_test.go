package stage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/internal/testenv"
)

// upper is a directory's part of the tree. Its methods change the part as overlayfs does for
// commands.
type upper struct {
	tb  testing.TB
	dir string
	// attribute marks removed paths with an attribute, as overlayfs does where it may not create
	// devices.
	attribute bool
}

func (u *upper) must(err error) {
	u.tb.Helper()
	if err != nil {
		u.tb.Fatal(err)
	}
}

func (u *upper) at(name string) string { return filepath.Join(u.dir, name) }

func (u *upper) write(name, content string, mode fs.FileMode) {
	u.tb.Helper()
	u.must(os.WriteFile(u.at(name), []byte(content), mode))
	u.must(os.Chmod(u.at(name), mode))
}

func (u *upper) mkdir(name string) {
	u.tb.Helper()
	u.must(os.Mkdir(u.at(name), 0o755))
	u.must(os.Chmod(u.at(name), 0o755))
}

func (u *upper) link(name, target string) { u.tb.Helper(); u.must(os.Symlink(target, u.at(name))) }

// remove marks a path as removed.
func (u *upper) remove(name string) {
	u.tb.Helper()
	if !u.attribute && unix.Mknod(u.at(name), unix.S_IFCHR, 0) == nil {
		return
	}
	u.write(name, "", 0o600)
	u.must(unix.Lsetxattr(u.at(name), "user.overlay.whiteout", []byte("y"), 0))
}

// opaque marks a directory as replaced.
func (u *upper) opaque(name string) {
	u.tb.Helper()
	u.mkdir(name)
	u.must(unix.Lsetxattr(u.at(name), "user.overlay.opaque", []byte("y"), 0))
}

// modes lists the contents of a directory, with modes and the targets of links.
func modes(tb testing.TB, dir string) string {
	tb.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "%v %q", info.Mode(), rel)
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, ": %s", text)
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			fmt.Fprintf(&out, " -> %s", target)
		}
		out.WriteByte('\n')
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// commands are changes to a directory: as a command makes them on the disk, and as overlayfs
// stores them in the tree.
var commands = map[string]struct {
	disk func(dir string) error // the change without a stage
	tree func(u *upper)         // the change in the tree
	list string                 // the staged changes
	git  bool                   // a git patch can represent the change
}{
	"nothing": {func(string) error { return nil }, func(*upper) {}, "", false},
	"created": {
		func(dir string) error { return write(dir, "new", "made", 0o644) },
		func(u *upper) { u.write("new", "made", 0o644) },
		"new: nothing > a file of 4 bytes", true,
	},
	"changed": {
		func(dir string) error { return write(dir, "a", "changed", 0o644) },
		func(u *upper) { u.write("a", "changed", 0o644) },
		"a: a file of 1 bytes > a file of 7 bytes", true,
	},
	"as long as before": {
		func(dir string) error { return write(dir, "a", "A", 0o644) },
		func(u *upper) { u.write("a", "A", 0o644) },
		"a: a file of 1 bytes > a file of 1 bytes", true,
	},
	"copied and not changed": {func(string) error { return nil }, func(u *upper) { u.write("a", "a", 0o644); u.mkdir("d"); u.write("d/x", "x", 0o644) }, "", false},
	"mode":                   {func(dir string) error { return os.Chmod(dir+"/a", 0o755) }, func(u *upper) { u.write("a", "a", 0o755) }, "a: a file of 1 bytes > a file of 1 bytes", true},
	"mode of a directory": {
		func(dir string) error { return os.Chmod(dir+"/d", 0o700) },
		func(u *upper) { u.mkdir("d"); u.must(os.Chmod(u.at("d"), 0o700)) },
		"d: a directory > a directory", false,
	},
	"removed":                  {func(dir string) error { return os.Remove(dir + "/a") }, func(u *upper) { u.remove("a") }, "a: a file of 1 bytes > nothing", true},
	"removed, and never there": {func(string) error { return nil }, func(u *upper) { u.remove("never") }, "", false},
	"directory removed": {
		func(dir string) error { return os.RemoveAll(dir + "/d") },
		func(u *upper) { u.remove("d") },
		"d: a directory > nothing, d/sub: a directory > nothing, d/sub/y: a file of 1 bytes > nothing, d/x: a file of 1 bytes > nothing", true,
	},
	"directory replaced": {
		func(dir string) error {
			return errors.Join(os.RemoveAll(dir+"/d"), mkdir(dir, "d"), write(dir, "d/x", "X", 0o644), write(dir, "d/z", "z", 0o644))
		},
		func(u *upper) { u.opaque("d"); u.write("d/x", "X", 0o644); u.write("d/z", "z", 0o644) },
		"d/sub: a directory > nothing, d/sub/y: a file of 1 bytes > nothing, d/x: a file of 1 bytes > a file of 1 bytes, d/z: nothing > a file of 1 bytes", true,
	},
	"directory emptied": {
		func(dir string) error { return errors.Join(os.RemoveAll(dir+"/d"), mkdir(dir, "d")) },
		func(u *upper) { u.opaque("d") },
		"d/sub: a directory > nothing, d/sub/y: a file of 1 bytes > nothing, d/x: a file of 1 bytes > nothing", false,
	},
	"new directory, marked": {
		func(dir string) error { return errors.Join(mkdir(dir, "n"), write(dir, "n/x", "x", 0o644)) },
		func(u *upper) { u.opaque("n"); u.write("n/x", "x", 0o644) },
		"n/x: nothing > a file of 1 bytes", true,
	},
	"empty directory": {func(dir string) error { return mkdir(dir, "n") }, func(u *upper) { u.mkdir("n") }, "n: nothing > a directory", false},
	"directory renamed, by copying": {
		func(dir string) error { return os.Rename(dir+"/d", dir+"/e") },
		func(u *upper) {
			u.remove("d")
			u.opaque("e")
			u.opaque("e/sub")
			u.write("e/sub/y", "y", 0o644)
			u.write("e/x", "x", 0o644)
		},
		"d: a directory > nothing, d/sub: a directory > nothing, d/sub/y: a file of 1 bytes > nothing, d/x: a file of 1 bytes > nothing, " +
			"e/sub/y: nothing > a file of 1 bytes, e/x: nothing > a file of 1 bytes", true,
	},
	"renamed":      {func(dir string) error { return os.Rename(dir+"/a", dir+"/b") }, func(u *upper) { u.remove("a"); u.write("b", "a", 0o644) }, "a: a file of 1 bytes > nothing, b: nothing > a file of 1 bytes", true},
	"case":         {func(dir string) error { return os.Rename(dir+"/a", dir+"/A") }, func(u *upper) { u.remove("a"); u.write("A", "a", 0o644) }, "A: nothing > a file of 1 bytes, a: a file of 1 bytes > nothing", true},
	"link":         {func(dir string) error { return os.Symlink("../x y", dir+"/n") }, func(u *upper) { u.link("n", "../x y") }, "n: nothing > a link to ../x y", true},
	"link turned":  {func(dir string) error { return errors.Join(os.Remove(dir+"/l"), os.Symlink("d", dir+"/l")) }, func(u *upper) { u.link("l", "d") }, "l: a link to a > a link to d", true},
	"link copied":  {func(string) error { return nil }, func(u *upper) { u.link("l", "a") }, "", false},
	"link removed": {func(dir string) error { return os.Remove(dir + "/l") }, func(u *upper) { u.remove("l") }, "l: a link to a > nothing", true},
	"file to link": {func(dir string) error { return errors.Join(os.Remove(dir+"/a"), os.Symlink("d", dir+"/a")) }, func(u *upper) { u.link("a", "d") }, "a: a file of 1 bytes > a link to d", true},
	"link to file": {func(dir string) error { return errors.Join(os.Remove(dir+"/l"), write(dir, "l", "l", 0o644)) }, func(u *upper) { u.write("l", "l", 0o644) }, "l: a link to a > a file of 1 bytes", true},
	"file to directory": {
		func(dir string) error {
			return errors.Join(os.Remove(dir+"/a"), mkdir(dir, "a"), write(dir, "a/x", "x", 0o644))
		},
		func(u *upper) { u.opaque("a"); u.write("a/x", "x", 0o644) },
		"a: a file of 1 bytes > a directory, a/x: nothing > a file of 1 bytes", true,
	},
	"directory to file": {
		func(dir string) error { return errors.Join(os.RemoveAll(dir+"/d"), write(dir, "d", "d", 0o644)) },
		func(u *upper) { u.write("d", "d", 0o644) },
		"d: a directory > a file of 1 bytes, d/sub: a directory > nothing, d/sub/y: a file of 1 bytes > nothing, d/x: a file of 1 bytes > nothing", true,
	},
	"directory to link": {
		func(dir string) error { return errors.Join(os.RemoveAll(dir+"/d"), os.Symlink("a", dir+"/d")) },
		func(u *upper) { u.link("d", "a") },
		"d: a directory > a link to a, d/sub: a directory > nothing, d/sub/y: a file of 1 bytes > nothing, d/x: a file of 1 bytes > nothing", true,
	},
	"read-only file": {
		func(dir string) error { return errors.Join(os.Remove(dir+"/ro"), write(dir, "ro", "RO", 0o444)) },
		func(u *upper) { u.write("ro", "RO", 0o444) },
		"ro: a file of 2 bytes > a file of 2 bytes", true,
	},
	"odd names": {
		func(dir string) error {
			return errors.Join(write(dir, "\xff\n\"", "x", 0o644), os.Symlink("\xfe", dir+"/\xfd"))
		},
		func(u *upper) { u.write("\xff\n\"", "x", 0o644); u.link("\xfd", "\xfe") },
		"\xfd: nothing > a link to \xfe, \xff\n\": nothing > a file of 1 bytes", true,
	},
	"sparse": {
		func(dir string) error { return write(dir, "s", strings.Repeat("\x00", 1<<20), 0o644) },
		func(u *upper) { u.write("s", "", 0o644); u.must(os.Truncate(u.at("s"), 1<<20)) },
		"s: nothing > a file of 1048576 bytes", true,
	},
}

func write(dir, name, content string, mode fs.FileMode) error {
	path := filepath.Join(dir, name)
	return errors.Join(os.WriteFile(path, []byte(content), mode), os.Chmod(path, mode))
}

func mkdir(dir, name string) error {
	return errors.Join(os.Mkdir(filepath.Join(dir, name), 0o755), os.Chmod(filepath.Join(dir, name), 0o755))
}

// project creates the files of a small project in a directory.
func project(tb testing.TB, dir string) {
	tb.Helper()
	err := errors.Join(
		write(dir, "a", "a", 0o644), mkdir(dir, "d"), write(dir, "d/x", "x", 0o644), mkdir(dir, "d/sub"),
		write(dir, "d/sub/y", "y", 0o644), os.Symlink("a", dir+"/l"), write(dir, "ro", "ro", 0o444), os.Chmod(dir, 0o755),
	)
	if err != nil {
		tb.Fatal(err)
	}
}

// layered returns a room with the project, and its part of the tree.
func layered(tb testing.TB) (*room, *upper) {
	tb.Helper()
	r := newRoom(tb)
	project(tb, r.work)
	layers, err := r.Layers([]string{r.work})
	if err != nil || len(layers) != 1 {
		tb.Fatal(layers, err)
	}
	return r, &upper{tb: tb, dir: layers[0].Upper}
}

// ran scans, as after a command that began after all changes on the disk.
func (r *room) ran() {
	r.tb.Helper()
	if err := r.Scan(r.tb.Context(), time.Now().Add(time.Hour), capability.Call{ID: "c9", Tool: "Bash"}); err != nil {
		r.tb.Fatal(err)
	}
}

// kinds lists the staged changes, with the former and the staged node of each.
func (r *room) kinds() string {
	r.tb.Helper()
	list, err := r.List(everything)
	if err != nil {
		r.tb.Fatal(err)
	}
	var out []string
	for _, e := range list {
		rel, _ := filepath.Rel(r.work, e.Path)
		out = append(out, fmt.Sprintf("%s: %s > %s", rel, e.Base, e.Content))
	}
	return strings.Join(out, ", ")
}

// TestCommands checks for each of commands that it is listed, that git accepts its patch, that
// applying it has the same result as the command without a stage, and that it can be undone.
func TestCommands(t *testing.T) {
	t.Parallel()
	git := testenv.NeedTool(t, "git")
	for name, c := range commands {
		for _, attribute := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, attribute), func(t *testing.T) {
				t.Parallel()
				want := t.TempDir()
				project(t, want)
				if err := c.disk(want); err != nil {
					t.Fatal(err)
				}
				r, u := layered(t)
				before := modes(t, r.work)
				u.attribute = attribute
				c.tree(u)
				r.ran()
				if got := r.kinds(); got != c.list {
					t.Fatalf("listed:\n%s\nwant:\n%s", got, c.list)
				}
				if c.git {
					r.patched(git, want)
				}
				done, err := r.Apply(t.Context(), everything)
				if err != nil && (c.list != "" || !errors.Is(err, stage.ErrNothing)) {
					t.Fatal(err)
				}
				if got, want := modes(t, r.work), modes(t, want); got != want {
					t.Fatalf("applied:\n%s\nwant:\n%s", got, want)
				}
				r.emptied()
				if got := r.kinds(); got != "" {
					t.Errorf("left: %s", got)
				}
				if len(done) == 0 {
					return
				}
				if strings.Contains(name, "odd") || strings.Contains(name, "mode") { // the history has no such names, and restores no modes
					return
				}
				if _, err := r.history.Restore(t.Context(), history.Selection{Call: done[0].Call}, history.RestoreOptions{}); err != nil {
					t.Fatalf("undoing: %v", err)
				}
				if got := modes(t, r.work); got != before {
					t.Errorf("undone:\n%s\nwant:\n%s", got, before)
				}
			})
		}
	}
}

// patched applies the patch with git to a fresh project, and compares the result with want.
func (r *room) patched(git, want string) {
	r.tb.Helper()
	dir := r.tb.TempDir()
	project(r.tb, dir)
	var patch bytes.Buffer
	if notes, err := r.Patch(r.tb.Context(), &patch, everything, changes.PatchOptions{Dir: r.work}); err != nil || len(notes) > 0 {
		r.tb.Errorf("%v, %v", notes, err)
	}
	cmd := exec.CommandContext(r.tb.Context(), git, "apply", "--unsafe-paths")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch.Bytes())
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.tb.Errorf("git: %v\n%s\n%s", err, out, &patch)
		return
	}
	// Git creates files with the umask, and only with the modes 0644 and 0755.
	plain := func(text string) string { return strings.ReplaceAll(text, "-r--r--r--", "-rw-r--r--") }
	if got, want := plain(modes(r.tb, dir)), plain(modes(r.tb, want)); got != want {
		r.tb.Errorf("git makes:\n%s\nwant:\n%s\npatch:\n%s", got, want, &patch)
	}
}

// TestSpecialFiles checks that a pipe cannot be applied, and that applying everything then
// changes nothing.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	r, u := layered(t)
	u.must(unix.Mkfifo(u.at("pipe"), 0o600))
	u.write("b", "b", 0o644)
	r.ran()
	_, err := r.Apply(t.Context(), everything)
	if conflicts, ok := errors.AsType[*stage.ConflictError](err); !ok || !strings.Contains(conflicts.Conflicts[0].Why, "a FIFO (named pipe)") {
		t.Fatal(err)
	}
	if done, err := r.Apply(t.Context(), stage.Selection{Paths: []string{r.path("b")}}); err != nil || r.said(done) != "made b" {
		t.Errorf("%s, %v", r.said(done), err)
	}
	if _, err := r.Discard(t.Context(), stage.Selection{Paths: []string{r.path("pipe")}}); err != nil || r.kinds() != "" {
		t.Errorf("%v, left %s", err, r.kinds())
	}
}

// TestHardLinksAndAttributes checks which attributes are kept, and the notes on those that are
// not.
func TestHardLinksAndAttributes(t *testing.T) {
	t.Parallel()
	r, u := layered(t)
	u.write("one", "1", 0o644)
	u.must(os.Link(u.at("one"), u.at("two")))
	u.must(unix.Lsetxattr(u.at("one"), "user.note", []byte("kept"), 0))
	u.must(unix.Lsetxattr(u.at("one"), "user.overlay.origin", []byte("x"), 0))
	u.must(os.Chmod(u.at("one"), fs.ModeSetuid|0o755))
	r.ran()
	done, err := r.Apply(t.Context(), everything)
	if err != nil || len(done) != 2 || len(done[0].Notes) != 2 || !strings.Contains(done[0].Notes[1], "2 names") || !strings.Contains(done[0].Notes[0], "set-uid") {
		t.Fatalf("%+v, %v", done, err)
	}
	value := make([]byte, 10)
	if n, err := unix.Lgetxattr(r.path("one"), "user.note", value); err != nil || string(value[:n]) != "kept" {
		t.Errorf("%q, %v", value[:max(n, 0)], err)
	}
	if _, err := unix.Lgetxattr(r.path("one"), "user.overlay.origin", value); !errors.Is(err, unix.ENODATA) {
		t.Errorf("overlayfs's own: %v", err)
	}
	if info, err := os.Stat(r.path("two")); err != nil || info.Sys().(*syscall.Stat_t).Nlink != 1 {
		t.Errorf("it is still linked: %v", err)
	}
}

// TestChangedMeanwhile checks that applying refuses paths that something else changed, while the
// command ran or since, also in a removed directory.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		during, since func(r *room)
		why           string
	}{
		"while it ran":       {func(r *room) { r.put("a", "mine") }, nil, "a: it was changed by something else while a command changed it"},
		"since":              {nil, func(r *room) { r.put("a", "mine") }, "a: it was changed by something else since"},
		"as long as before":  {nil, func(r *room) { r.put("a", "b") }, "a: it was changed by something else since"},
		"removed since":      {nil, func(r *room) { _ = os.Remove(r.path("a")) }, "a: it was removed since"},
		"in a removed one":   {nil, func(r *room) { r.put("d/x", "mine") }, "d/x: it was changed by something else"},
		"made in a removed":  {nil, func(r *room) { r.put("d/sub/mine", "mine") }, "d/sub/mine: it was changed by something else"},
		"made since":         {nil, func(r *room) { r.put("new", "mine") }, "new: it was created by something else"},
		"a directory by now": {nil, func(r *room) { _ = os.Remove(r.path("a")); _ = os.Mkdir(r.path("a"), 0o755) }, "a: it was changed by something else"},
		"a link on the way":  {nil, func(r *room) { _ = os.Rename(r.path("k"), r.path("kk")); _ = os.Symlink("kk", r.path("k")) }, "k: it was changed by something else"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, u := layered(t)
			if err := errors.Join(mkdir(r.work, "k"), write(r.work, "k/f", "f", 0o644)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // a tick of the file system's clock
			began := time.Now()
			time.Sleep(20 * time.Millisecond)
			if c.during != nil {
				c.during(r)
			}
			u.write("a", "A", 0o644)
			u.write("new", "made", 0o644)
			u.remove("d")
			u.mkdir("k")
			u.write("k/f", "F", 0o644)
			if err := r.Scan(t.Context(), began, capability.Call{ID: "c"}); err != nil {
				t.Fatal(err)
			}
			if c.since != nil {
				c.since(r)
			}
			before := modes(t, r.work)
			_, err := r.Apply(t.Context(), everything)
			conflicts, ok := errors.AsType[*stage.ConflictError](err)
			if !ok {
				t.Fatalf("%v\n%s", err, modes(t, r.work))
			}
			var why strings.Builder
			for _, c := range conflicts.Conflicts {
				rel, _ := filepath.Rel(r.work, c.Path)
				fmt.Fprintf(&why, "%s: %s\n", rel, c.Why)
			}
			if !strings.Contains(why.String(), c.why) {
				t.Errorf("%s", why.String())
			}
			if got := modes(t, r.work); got != before {
				t.Errorf("something was done:\n%s", got)
			}
		})
	}
}

// TestPartOfAWhole checks that a part of a replaced directory cannot be applied or discarded
// alone, and that a part of a new directory can.
func TestPartOfAWhole(t *testing.T) {
	t.Parallel()
	r, u := layered(t)
	u.opaque("d")
	u.write("d/x", "X", 0o644)
	u.opaque("n")
	u.write("n/one", "1", 0o644)
	u.write("n/two", "2", 0o644)
	r.ran()
	for _, name := range []string{"d/x", "d/sub/y"} {
		sel := stage.Selection{Paths: []string{r.path(name)}}
		if _, err := r.Apply(t.Context(), sel); err == nil || !strings.Contains(err.Error(), "as a whole") {
			t.Errorf("applying %s: %v", name, err)
		}
		if _, err := r.Discard(t.Context(), sel); err == nil || !strings.Contains(err.Error(), "as a whole") {
			t.Errorf("discarding %s: %v", name, err)
		}
	}
	if done, err := r.Apply(t.Context(), stage.Selection{Paths: []string{r.path("n/one")}}); err != nil || r.said(done) != "made n/one" {
		t.Fatalf("%s, %v", r.said(done), err)
	}
	if _, ok, err := r.Lookup(r.path("n/one")); ok || err != nil {
		t.Errorf("what was applied is hidden or staged still: %v, %v", ok, err)
	}
	if done, err := r.Apply(t.Context(), stage.Selection{Paths: []string{r.path("d")}}); err != nil || !strings.Contains(r.said(done), "removed d/sub/y") {
		t.Fatalf("%s, %v", r.said(done), err)
	}
	if got := r.kinds(); got != "n/two: nothing > a file of 1 bytes" {
		t.Errorf("left: %s", got)
	}
	if done, err := r.Apply(t.Context(), everything); err != nil || r.said(done) != "made n/two" {
		t.Fatalf("%s, %v", r.said(done), err)
	}
	r.emptied()
}

// TestToolsAndCommands has tools and commands write the same files in turn.
func TestToolsAndCommands(t *testing.T) {
	t.Parallel()
	r, u := layered(t)
	r.stage("a", "tool")
	u.write("a", "command", 0o755)
	r.ran()
	r.stage("a", "tool again")
	u.remove("d")
	r.ran()
	r.stage("d/x", "anew")
	if got := r.kinds(); got != "a: a file of 1 bytes > a file of 10 bytes, d/sub: a directory > nothing, d/sub/y: a file of 1 bytes > nothing, d/x: a file of 1 bytes > a file of 4 bytes" {
		t.Errorf("staged: %s", got)
	}
	if list, err := r.List(everything); err != nil || strings.Join(list[0].Calls, " ") != "c1 c1" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := r.Apply(t.Context(), everything); err != nil {
		t.Fatal(err)
	}
	const want = `-rwxr-xr-x "a": tool again
drwxr-xr-x "d"
-rw-r--r-- "d/x": anew
Lrwxrwxrwx "l" -> a
-r--r--r-- "ro": ro
`
	if got := modes(t, r.work); got != want {
		t.Errorf("applied:\n%s", got)
	}
}
