//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/tempdir"
	"github.com/toolquay/toolquay/internal/test/escapes"
	"github.com/toolquay/toolquay/internal/testenv"
)

// overlaid is a sandbox whose commands have overlays.
type overlaid struct {
	*sandbox.Sandbox
	namespace *sandbox.Namespace
	layers    []sandbox.Layer
	spec      sandbox.Spec
}

// layersIn returns layers for directories. Their upper and work directories are in dir.
func layersIn(t *testing.T, dir string, roots ...string) []sandbox.Layer {
	t.Helper()
	t.Cleanup(func() { // the cleanup of t.TempDir does not open directories that overlayfs closed
		must(t, errors.Join(tempdir.RemoveAll(filepath.Join(dir, "upper")), tempdir.RemoveAll(filepath.Join(dir, "work"))))
	})
	var layers []sandbox.Layer
	for i, root := range roots {
		l := sandbox.Layer{Root: root, Upper: filepath.Join(dir, "upper", strconv.Itoa(i)), Work: filepath.Join(dir, "work", strconv.Itoa(i))}
		info, err := os.Stat(root)
		must(t, errors.Join(err, os.MkdirAll(l.Upper, 0o700), os.MkdirAll(l.Work, 0o700)))
		must(t, os.Chmod(l.Upper, info.Mode())) // an overlay's root shows this mode
		layers = append(layers, l)
	}
	return layers
}

// stage mounts overlays over directories in a tree.
func stage(t *testing.T, root string, names ...string) *overlaid {
	t.Helper()
	s := find(t, sandbox.Options{State: root + "/state"})
	o := &overlaid{Sandbox: s, layers: layersIn(t, root+"/stage", under(root, names...)...)}
	o.mount(t)
	o.spec = sandbox.Spec{Namespace: o.namespace, Writable: under(root, names...), Temp: root + "/t", Cwd: root + "/" + names[0]}
	return o
}

// mount mounts the overlays in another namespace.
func (o *overlaid) mount(t *testing.T) {
	t.Helper()
	if !o.Copies() {
		testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
	}
	var err error
	o.namespace, err = o.NewNamespace(t.Context())
	must(t, err)
	n := o.namespace
	t.Cleanup(func() { _ = n.Close() }) // it may be closed already
	if err := o.Stage(t.Context(), n, o.layers); errors.Is(err, sandbox.ErrOverlay) {
		testenv.Missing(t, err.Error())
	} else {
		must(t, err)
	}
	o.spec.Namespace = n
}

// says returns the output of a command, which must succeed.
func (o *overlaid) says(t *testing.T, text string) string {
	t.Helper()
	out, err := run(t, o.Sandbox, o.spec, plainly, text)
	if err != nil {
		t.Fatalf("%s: %v: %s", text, err, out)
	}
	return out
}

// TestOverlay: the next command and this process see what a command changes, and the directory stays as it is.
func TestOverlay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ change, look, want string }{
		"a new file":             {"echo new > new", "cat new", "new\n"},
		"a file changed":         {"echo more >> f", "cat f", "content of w/f\nmore\n"},
		"a file replaced":        {"echo new > n; mv n f", "cat f", "new\n"},
		"a file removed":         {"rm f", "ls f 2>&1 || true", "ls: cannot access 'f': No such file or directory\n"},
		"a file renamed":         {"mv f g", "ls; cat g", "d\ng\nl\nx\ncontent of w/f\n"},
		"another mode":           {"chmod 754 f; chmod 710 d", "stat -c %a f d", "754\n710\n"},
		"a link":                 {"ln -s f new; ln -sfn d l", "readlink new l", "f\nd\n"},
		"a hard link":            {"ln f new; echo more >> new", "tail -n 1 f; stat -c %h f", "more\n2\n"},
		"a directory removed":    {"rm -r d", "ls", "f\nl\nx\n"},
		"a directory replaced":   {"rm -r d; mkdir d; echo new > d/n", "ls d", "n\n"},
		"a directory renamed":    {"mv d e", "cat e/a e/b/c; ls", "content of w/d/a\ncontent of w/d/b/c\ne\nf\nl\nx\n"},
		"directories exchanged":  {"mv d t; mv x d; mv t x", "cat d/y x/a", "content of w/x/y\ncontent of w/d/a\n"},
		"a file for a directory": {"rm -r d; echo new > d", "cat d", "new\n"},
		"a FIFO":                 {"mkfifo p", "stat -c %F p", "fifo\n"},
		"times":                  {"touch -d @1000000000 f d", "stat -c %Y f d", "1000000000\n1000000000\n"},
		"a sparse file":          {"truncate -s 1M big", "stat -c '%s %b' big", "1048576 0\n"},
		"an attribute":           {`python3 -c 'import os; os.setxattr("f", "user.mine", b"v")'`, `python3 -c 'import os; print(os.getxattr("f", "user.mine"))'`, "b'v'\n"},
		"nothing":                {"cat f d/a > /dev/null", "ls", "d\nf\nl\nx\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "w/f", "w/d/a", "w/d/b/c", "w/x/y", "w/l -> f", "t/f")
			was := testenv.Tree(t, root+"/w")
			o := stage(t, root, "w")
			o.says(t, test.change)
			if got := o.says(t, test.look); got != test.want {
				t.Errorf("the next command finds\n%s\nand not\n%s", got, test.want)
			}
			if now := testenv.Tree(t, root+"/w"); !maps.Equal(now, was) {
				t.Errorf("the directory is another one: %v", now)
			}
			found := testenv.Tree(t, o.namespace.At(root+"/w"))
			if changed := !maps.Equal(found, was); changed == (name == "nothing" || name == "times" || name == "an attribute") {
				t.Errorf("this process finds %v", found)
			}
			must(t, o.namespace.Close())
			o.mount(t) // as a later process does
			if got := testenv.Tree(t, o.namespace.At(root+"/w")); !maps.Equal(got, found) {
				t.Errorf("mounted once more it is %v, and not %v", got, found)
			}
		})
	}
}

// TestOverlayShared: a command in the background sees, and gets inotify events for, what this process changes
// through the descriptor, and the other way round.
func TestOverlayShared(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	root := tree(t, "w/f", "w/d/a", "t/f")
	o := stage(t, root, "w")
	out, err := os.Create(root + "/out")
	must(t, err)
	defer out.Close()
	w, err := o.Wrap(t.Context(), o.spec, []string{"python3", "-c", `
import ctypes, os
libc = ctypes.CDLL(None)
fd = libc.inotify_init()
assert libc.inotify_add_watch(fd, b"d", 0x180) > 0
open("ready", "w").close()
name = os.read(fd, 4096)[16:].rstrip(b"\0").decode()
print(name, open("d/" + name).read(), end="")
`})
	must(t, err)
	p, err := supervisors.Start(t.Context(), process.Command{Path: w.Inside, Args: w.Args, Env: plainly, Dir: w.Dir, Program: w.Program, In: w.In, Files: []*os.File{nil, out, out}})
	must(t, err)
	must(t, w.Release(t.Context(), p.Pid()))
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(o.namespace.At(root + "/w/ready")); err == nil {
			break
		}
		if time.Since(began) > testenv.Patience {
			t.Fatal("what the command made is not found")
		}
	}
	must(t, os.WriteFile(o.namespace.At(root+"/w/tmp"), []byte("by a tool\n"), 0o600))
	must(t, os.Rename(o.namespace.At(root+"/w/tmp"), o.namespace.At(root+"/w/d/made")))
	<-p.Gone()
	must(t, w.Close())
	if said, err := os.ReadFile(out.Name()); err != nil || string(said) != "made by a tool\n" {
		t.Errorf("the command says %q, %v", said, err)
	}
	if exists(root+"/w/ready") || exists(root+"/w/d/made") {
		t.Error("it is in the directory")
	}
}

// TestEscapesFromOverlay: commands cannot get out of an overlay, and protected files stay as they were there, too.
func TestEscapesFromOverlay(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var layers []sandbox.Layer
	t.Run("all", func(in *testing.T) {
		tryEscapes(in, own, func(s *sandbox.Sandbox, w *escapes.World) {
			if !s.Copies() {
				testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
			}
			made := layersIn(t, t.TempDir(), w.Work)
			if err := s.Stage(t.Context(), s.Common(), made); errors.Is(err, sandbox.ErrOverlay) {
				testenv.Missing(t, err.Error())
			} else {
				must(t, err)
			}
			mu.Lock()
			defer mu.Unlock()
			layers = append(layers, made...)
		})
	})
	changed := 0
	for _, l := range layers {
		changed += len(testenv.Tree(t, l.Upper)) - 1
		for _, name := range []string{".git/config", ".git/hooks", "n/.git/config", "n/.git/hooks", "n/.programs", "d/p/.npmrc", "d/bare/config", ".bashrc", ".npmrc", ".mcp.json", ".vscode"} {
			if info, err := os.Lstat(filepath.Join(l.Upper, name)); err == nil && !info.IsDir() {
				t.Errorf("a command changed %s: %v", name, info.Mode())
			}
		}
	}
	if changed == 0 {
		t.Error("no command changed anything in an overlay")
	}
}

// TestStoresAreHidden: commands cannot find the lower and upper directories of an overlay by any path, even if
// the whole machine is visible.
func TestStoresAreHidden(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "t/f")
	o := stage(t, root, "w")
	l := o.layers[0]
	o.spec.Bind = []sandbox.Bind{{Source: root, Target: root}} // or it would lie in the sandbox's own /tmp
	o.says(t, "echo staged > f; echo staged > new")
	out, _ := run(t, o.Sandbox, o.spec, plainly, `
		for d in `+l.Upper+` `+l.Work+`; do ls -A $d; cat $d/f $d/new; echo x > $d/x; rmdir $d; mv $d $d-moved; done 2>&1
		grep -l 'content of w/f' -r `+root+` 2>/dev/null
		cat /proc/self/mountinfo | grep -c -e "`+root+`/stage/upper.*overlay"
	`)
	if strings.Contains(out, "content of w/f") || strings.Contains(out, l.Upper+"/f\n") {
		t.Errorf("it found\n%s", out)
	}
	if exists(l.Upper+"/x") || !exists(l.Upper+"/f") {
		t.Error("the store is another one")
	}
}

// TestProtectedInOverlay: protected names that exist only in the overlay are protected, and files that are made
// at missing ones are removed there.
func TestProtectedInOverlay(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "t/f")
	o := stage(t, root, "w")
	o.says(t, "mkdir -p .git/hooks sub; echo made > .git/hooks/pre-push; echo made > sub/.npmrc")
	o.spec.Protected = under(root, "w/.git/hooks", "w/sub/.npmrc", "w/.bashrc", "w/sub/.vscode")
	out, _ := run(t, o.Sandbox, o.spec, plainly, `{ echo x > .git/hooks/pre-push; echo x > .git/hooks/new; rm -r .git; echo x >> sub/.npmrc; mv sub away; } 2>&1; echo x > .bashrc; mkdir sub/.vscode; sleep 0.1; ls -A . sub`)
	for name, want := range map[string]string{".git/hooks/pre-push": "made\n", "sub/.npmrc": "made\n", ".git/hooks/new": "", ".bashrc": "", "sub/.vscode": ""} {
		if got, err := os.ReadFile(o.namespace.At(root + "/w/" + name)); string(got) != want || want == "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s holds %q, %v:\n%s", name, got, err, out)
		}
	}
	if got := names(t, root+"/w"); got != "f" {
		t.Errorf("in the directory lie %s", got)
	}
	noLeftovers(t, o.namespace.At(root+"/w"))
}

// TestOverlaidDirectoryReplaced: if somebody replaces a directory that has an overlay, no command changes the
// new one.
func TestOverlaidDirectoryReplaced(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(path string) error{
		"moved":   func(path string) error { return os.Rename(path, path+"-before") },
		"removed": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "w/f", "t/f")
			o := stage(t, root, "w")
			o.says(t, "echo staged > new")
			must(t, errors.Join(replace(root+"/w"), os.Mkdir(root+"/w", 0o755)))
			w, err := o.Wrap(t.Context(), o.spec, []string{"bash", "-c", "echo x > f"})
			if err == nil {
				out, err := output(t, w, plainly)
				t.Errorf("the command ran: %s, %v", out, err)
				must(t, w.Close())
			}
			if !errors.Is(err, sandbox.ErrChanged) {
				t.Error(err)
			}
			if exists(root + "/w/f") {
				t.Error("it changed what is not staged")
			}
		})
	}
}

// TestNamesOfOverlays: paths may contain any character, and be longer than a mount option may be.
func TestNamesOfOverlays(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 20)
	for _, name := range []string{"a,b", "a:b", `a\b`, `a\:b`, "a b", "a\nb", `a"'b`, "lowerdir=x,upperdir=y", "\xff", long + "/" + long} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			t.Parallel()
			root := tree(t, name+"/f", "t/f")
			o := stage(t, root, name)
			o.layers = layersIn(t, filepath.Join(root, "stage", name), root+"/"+name)
			o.mount(t)
			o.says(t, "rm f; echo new > new")
			if got := names(t, root+"/"+name) + names(t, o.namespace.At(root+"/"+name)); got != "fnew" {
				t.Errorf("there are %s", got)
			}
		})
	}
}

// TestMoreOverlays adds overlays later, but not inside another one or around it.
func TestMoreOverlays(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "v/f", "t/f")
	o := stage(t, root, "w")
	o.says(t, "echo new > new")
	further := layersIn(t, root+"/further", root+"/v")
	o.spec.Writable = under(root, "w", "v")
	if _, err := o.Wrap(t.Context(), o.spec, []string{"true"}); !errors.Is(err, sandbox.ErrSpec) {
		t.Errorf("it could change what is not staged: %v", err)
	}
	for range 2 {
		must(t, o.Stage(t.Context(), o.namespace, slices.Concat(o.layers, further)))
	}
	if out := o.says(t, "cat new; echo new > ../v/new; cat ../v/*"); out != "new\ncontent of v/f\nnew\n" {
		t.Errorf("it printed %s", out)
	}
	if got := names(t, root+"/v"); got != "f" {
		t.Errorf("in the directory lie %s", got)
	}
	must(t, os.Mkdir(root+"/w/d", 0o755))
	for _, l := range layersIn(t, root+"/nested", root, root+"/w/d") {
		if err := o.Stage(t.Context(), o.namespace, []sandbox.Layer{l}); !errors.Is(err, sandbox.ErrSpec) {
			t.Errorf("%s was taken: %v", l.Root, err)
		}
	}
}

// TestBesideOverlays: a namespace with another network has the same overlays.
func TestBesideOverlays(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "t/f")
	o := stage(t, root, "w")
	beside, err := o.Beside(t.Context(), o.namespace)
	must(t, err)
	other := *o
	other.spec.Namespace = beside
	o.says(t, "echo one > one")
	if out := other.says(t, "cat one; echo two > two"); out != "one\n" {
		t.Errorf("it printed %s", out)
	}
	if out := o.says(t, "cat two"); out != "two\n" {
		t.Errorf("it printed %s", out)
	}
	must(t, beside.Close())
	if out := o.says(t, "cat one two"); out != "one\ntwo\n" {
		t.Errorf("it printed %s", out)
	}
}

// TestLeftoversOfOverlays: files that a killed host left in the work directory do no harm.
func TestLeftoversOfOverlays(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "t/f")
	o := stage(t, root, "w")
	o.says(t, "echo new > new")
	must(t, o.namespace.Close())
	left := filepath.Join(o.layers[0].Work, "work")
	must(t, os.Chmod(left, 0o700)) //nolint:gosec // as overlayfs finds it
	must(t, os.MkdirAll(left+"/#1/d", 0o755))
	must(t, os.WriteFile(left+"/#2", []byte("half a file"), 0o600))
	o.mount(t)
	if out := o.says(t, "cat new; mv f g; ls"); out != "new\ng\nnew\n" {
		t.Errorf("it printed %s", out)
	}
}

// TestNoOverlay: if no overlay can be mounted, the error says why.
func TestNoOverlay(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "stage/", "t/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	if err := s.TryOverlay(t.Context(), root+"/stage"); err != nil {
		t.Error(err)
	}
	if got := names(t, root+"/stage"); got != "" {
		t.Errorf("it left %s", got)
	}
	n, err := s.NewNamespace(t.Context())
	must(t, err)
	defer func() { _ = n.Close() }() // nothing ran
	err = s.Stage(t.Context(), n, []sandbox.Layer{{Root: root + "/w", Upper: "/proc/sys", Work: "/proc/sys"}})
	if !errors.Is(err, sandbox.ErrOverlay) || !errors.Is(err, unix.EINVAL) {
		t.Error(err)
	}
	for _, l := range layersIn(t, root+"/w/inside", root+"/w") {
		if err := s.Stage(t.Context(), n, []sandbox.Layer{l}); !errors.Is(err, sandbox.ErrOverlay) || !strings.Contains(err.Error(), "work in a directory below it") {
			t.Errorf("its own store: %v", err)
		}
	}
	if got := n.At(root + "/w/f"); got != root+"/w/f" {
		t.Errorf("it is found at %s", got)
	}
	w, err := s.Wrap(t.Context(), sandbox.Spec{Namespace: n, Staged: true, Writable: []string{root + "/w"}, Temp: root + "/t", Cwd: root + "/w"}, []string{"true"})
	if err == nil {
		must(t, w.Close())
	}
	if !errors.Is(err, sandbox.ErrOverlay) {
		t.Errorf("a command that is to be staged: %v", err)
	}
	b := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	if err := b.TryOverlay(t.Context(), root+"/stage"); !errors.Is(err, sandbox.ErrOverlay) {
		t.Errorf("bubblewrap mounts one: %v", err)
	}
}
