//go:build unix

package changes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// nodes are the kinds of things at a path, each with a function that creates it.
var nodes = map[string]struct {
	node    *changes.Node
	content string
	make    func(path string) error
}{
	"nothing":     {nil, "", func(string) error { return nil }},
	"file":        {node("one", 0o640), "one", func(path string) error { return write(path, "one", 0o640) }},
	"other file":  {node("two", 0o640), "two", func(path string) error { return write(path, "two", 0o640) }},
	"executable":  {node("one", 0o755), "one", func(path string) error { return write(path, "one", 0o755) }},
	"read-only":   {node("ro", 0o444), "ro", func(path string) error { return write(path, "ro", 0o444) }},
	"empty":       {node("", 0o600), "", func(path string) error { return write(path, "", 0o600) }},
	"directory":   {&changes.Node{Kind: changes.Dir, Mode: 0o750}, "", func(path string) error { return errors.Join(os.Mkdir(path, 0o750), os.Chmod(path, 0o750)) }},
	"closed":      {&changes.Node{Kind: changes.Dir, Mode: 0o500}, "", func(path string) error { return errors.Join(os.Mkdir(path, 0o500), os.Chmod(path, 0o500)) }},
	"link":        {&changes.Node{Kind: changes.Link, Target: "some where"}, "", func(path string) error { return os.Symlink("some where", path) }},
	"link to all": {&changes.Node{Kind: changes.Link, Target: "/"}, "", func(path string) error { return os.Symlink("/", path) }},
	"link loop":   {&changes.Node{Kind: changes.Link, Target: "it"}, "", func(path string) error { return os.Symlink("it", path) }},
}

func write(path, content string, mode os.FileMode) error {
	return errors.Join(os.WriteFile(path, []byte(content), mode), os.Chmod(path, mode))
}

func dir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// look returns what is at a path.
func look(t *testing.T, path string) *changes.Found {
	t.Helper()
	f, err := changes.Look(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestPut replaces each of nodes with each other, and checks that the path is unchanged when
// ready is called.
func TestPut(t *testing.T) {
	t.Parallel()
	for from, was := range nodes {
		for to, is := range nodes {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(dir(t), "it")
				if err := was.make(path); err != nil {
					t.Fatal(err)
				}
				f := look(t, path)
				if !f.Node.Equal(was.node) || f.Node != nil && f.Node.Mode != was.node.Mode {
					t.Fatalf("it is found to be %+v", f.Node)
				}
				asked := 0
				ready := func() error {
					asked++
					if now := look(t, path); !now.Node.Equal(was.node) {
						t.Errorf("it is %s before it may be", now.Node)
					}
					return nil
				}
				if err := f.Put(t.Context(), is.node, strings.NewReader(is.content), ready); err != nil {
					t.Fatal(err)
				}
				if now := look(t, path); !now.Node.Equal(is.node) {
					t.Errorf("it is %+v", now.Node)
				}
				if want := map[bool]int{true: 0, false: 1}[from == to]; asked != want {
					t.Errorf("it was written down %d times", asked)
				}
				alone(t, path, is.node == nil)
			})
		}
	}
}

// alone checks that no temporary file is left beside the path.
func alone(t *testing.T, path string, gone bool) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	want := 1
	if gone {
		want = 0
	}
	if err != nil || len(entries) != want {
		t.Errorf("beside it lie %v, %v", entries, err)
	}
}

// TestPutRefuses checks that Put changes nothing if ready fails, or if something else changes the
// path at the last moment.
func TestPutRefuses(t *testing.T) {
	t.Parallel()
	refused := errors.New("the disk is full")
	for from, was := range nodes {
		for to, is := range nodes {
			if from == to {
				continue
			}
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(dir(t), "it")
				if err := was.make(path); err != nil {
					t.Fatal(err)
				}
				if err := look(t, path).Put(t.Context(), is.node, strings.NewReader(is.content), func() error { return refused }); !errors.Is(err, refused) {
					t.Errorf("not to be written down: %v", err)
				}
				if now := look(t, path); !now.Node.Equal(was.node) {
					t.Fatalf("it is %s all the same", now.Node)
				}
				alone(t, path, was.node == nil)
				meddle := func() error {
					return errors.Join(ignoreMissing(os.Remove(path)), write(path, "somebody's", 0o600))
				}
				err := look(t, path).Put(t.Context(), is.node, strings.NewReader(is.content), meddle)
				if abi.CodeOf(err) != abi.CodeChanged {
					t.Errorf("changed meanwhile: %v", err)
				}
				if text, err := os.ReadFile(path); string(text) != "somebody's" {
					t.Errorf("what somebody put there is %q, %v", text, err)
				}
				alone(t, path, false)
			})
		}
	}
}

func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// TestPutLeavesOthers checks that Put removes neither special files nor directories that are not
// empty, and follows no symbolic link.
func TestPutLeavesOthers(t *testing.T) {
	t.Parallel()
	top := dir(t)
	pipe := filepath.Join(top, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f := look(t, pipe)
	if err := f.Put(t.Context(), nil, nil, nil); abi.CodeOf(err) != abi.CodeNotRegular || !f.Node.Is(changes.Other) || f.Node.String() != "a FIFO (named pipe)" {
		t.Errorf("%s: %v", f.Node, err)
	}
	full := filepath.Join(top, "full")
	if err := errors.Join(os.Mkdir(full, 0o700), write(filepath.Join(full, "x"), "x", 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]*changes.Node{"nothing": nil, "a file": node("one", 0o600), "a link": {Kind: changes.Link, Target: "x"}} {
		if err := look(t, full).Put(t.Context(), to, strings.NewReader("one"), nil); abi.CodeOf(err) != abi.CodeChanged || !strings.Contains(err.Error(), "not empty") {
			t.Errorf("%s in place of a directory that is not empty: %v", name, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(full, "x")); string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Symlink("full", filepath.Join(top, "way")); err != nil {
		t.Fatal(err)
	}
	if f, err := changes.Look(t.Context(), filepath.Join(top, "way", "x")); err == nil {
		t.Errorf("over a link it found %s", f.Node)
	}
	deep := filepath.Join(top, "p", "q", "r")
	if err := look(t, deep).Put(t.Context(), &changes.Node{Kind: changes.Link, Target: "x"}, nil, nil); err != nil {
		t.Error(err)
	}
	if target, err := os.Readlink(deep); target != "x" {
		t.Errorf("%q, %v", target, err)
	}
}

// TestOrdered checks the order of changes, with directories that become files and names that sort
// before a slash.
func TestOrdered(t *testing.T) {
	t.Parallel()
	d, f := &changes.Node{Kind: changes.Dir}, node("x", 0)
	list := []changes.Change{
		{Path: "/a", Before: d, After: f}, {Path: "/a/b", Before: d}, {Path: "/a/b/c", Before: f}, {Path: "/a!", Before: f},
		{Path: "/d", After: d}, {Path: "/d/e", After: f}, {Path: "/g", Before: d}, {Path: "/g/h", Before: f}, {Path: "/g.x", Before: f, After: f},
	}
	var got []string
	for _, c := range changes.Ordered(list) {
		got = append(got, c.Path)
	}
	if want := "[/a/b/c /a/b /a /d /d/e /g.x /g/h /g /a!]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestRenames checks that files with the same content are paired, by name first, and each only
// once.
func TestRenames(t *testing.T) {
	t.Parallel()
	x, y, empty := node("x", 0o644), node("y", 0o644), node("", 0o644)
	list := []changes.Change{
		{Path: "/a/one", Before: x}, {Path: "/a/two", Before: x}, {Path: "/a/y", Before: y, After: x}, {Path: "/a/e", Before: empty},
		{Path: "/b/three", After: x}, {Path: "/b/two", After: x}, {Path: "/b/four", After: x}, {Path: "/b/e", After: empty},
	}
	var got []string
	for _, c := range changes.Renames(list) {
		got = append(got, c.Path+"<"+c.From)
	}
	if want := "[/a/y< /a/e< /b/three</a/one /b/two</a/two /b/four< /b/e<]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if list[4].From != "" {
		t.Error("it changed what it was given")
	}
}

// TestManyRenames checks that pairing many equal files does not take time for each pair.
func TestManyRenames(t *testing.T) {
	t.Parallel()
	const many = 50_000
	x := node("x", 0o644)
	var list []changes.Change
	for i := range many {
		list = append(list, changes.Change{Path: fmt.Sprintf("/a/%d", i), Before: x}, changes.Change{Path: fmt.Sprintf("/b/%d", many-i-1), After: x})
	}
	began := time.Now()
	got := changes.Renames(list)
	const enough = 10 * time.Second
	if took := time.Since(began); took > enough {
		t.Errorf("it takes %s", took)
	}
	if len(got) != many {
		t.Fatalf("%d changes are left", len(got))
	}
	for _, c := range got {
		if c.From != "/a/"+filepath.Base(c.Path) {
			t.Fatalf("%s is from %s", c.Path, c.From)
		}
	}
}
