//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// within fails the test where f does not end.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(testenv.Patience):
		t.Fatalf("still not done after %v", testenv.Patience)
	}
}

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	root := tree(t, "to-fifo -> fifo")
	if err := unix.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(root, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, what := range map[string]string{"fifo": "FIFO", "to-fifo": "FIFO", "s": "socket"} {
		within(t, func() {
			n, err := Resolve(root, path)
			if err != nil {
				t.Error(err)
				return
			}
			defer n.Close()
			for _, err := range []error{n.Refused(), second(n.Open())} {
				if abi.CodeOf(err) != abi.CodeNotRegular || !strings.Contains(err.Error(), what) {
					t.Errorf("%s: %v", path, err)
				}
			}
		})
	}
}

func second(f *os.File, _ Info, err error) error {
	if err == nil {
		_ = f.Close()
	}
	return err
}

func TestDirRefusesSpecialFiles(t *testing.T) {
	t.Parallel()
	root := tree(t, "f", "d/", "link -> f", "dirlink -> d")
	if err := unix.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := openDir(t, root)
	for _, name := range []string{"fifo", "link", "d", "missing"} {
		within(t, func() {
			if f, _, err := d.OpenFile(name); err == nil {
				_ = f.Close()
				t.Errorf("%s was opened as a file", name)
			}
		})
	}
	for _, name := range []string{"dirlink", "f", "fifo"} {
		if sub, err := d.OpenDir(name); err == nil {
			_ = sub.Close()
			t.Errorf("%s was opened as a directory", name)
		}
	}
}

func openDir(t *testing.T, path string) *Dir {
	t.Helper()
	n, err := Resolve(path, path)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	d, err := n.OpenDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// What was judged is what is opened, whatever the name leads to by then.
func TestSwapAfterResolve(t *testing.T) {
	t.Parallel()
	root := tree(t, "good", "secret", "link -> good")
	n, err := Resolve(root, "link")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	swap(t, root, "secret", "link")
	if err := os.Rename(filepath.Join(root, "secret"), filepath.Join(root, "good")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, n); got != "good" {
		t.Errorf("read %q", got)
	}
}

func swap(t *testing.T, root, target, link string) {
	t.Helper()
	tmp := filepath.Join(root, link+".tmp")
	if err := os.Symlink(target, tmp); err != nil {
		t.Error(err)
	}
	if err := os.Rename(tmp, filepath.Join(root, link)); err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, n *Node) string {
	t.Helper()
	f, _, err := n.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A link that flips all the time never makes the real path and what is read
// differ.
func TestRaceOfLinks(t *testing.T) {
	t.Parallel()
	root := tree(t, "in/f", "out/f", "d -> in")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				swap(t, root, []string{"in", "out"}[i%2], "d")
			}
		}
	}()
	seen := map[string]int{}
	// A second, or a tenth, and on until it was seen both ways.
	for began := time.Now(); time.Since(began) < time.Second*time.Duration(testenv.Sample(10))/10 || len(seen) < 2 && time.Since(began) < testenv.Patience; {
		n, err := Resolve(root, "d/f")
		if err != nil {
			t.Fatal(err)
		}
		want, _ := filepath.Rel(root, n.Real)
		if got := read(t, n); got != want {
			t.Fatalf("judged %q, read %q", want, got)
		}
		seen[want]++
		_ = n.Close()
	}
	close(stop)
	<-stopped
	if len(seen) != 2 {
		t.Errorf("the race did not happen: %v", seen)
	}
}

// openHandles counts the first descriptors of the process that are open.
func openHandles() int {
	var n int
	for fd := range 256 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}

func TestNoHandleLeaks(t *testing.T) {
	root := tree(t, "a/f", "l -> a/f", "loop -> loop")
	before := openHandles()
	for range 300 {
		for _, p := range []string{"a/f", "l", "loop", "a/x", "a/f/x", "l/", "a/../l", "/dev/null"} {
			if n, err := Resolve(root, p); err == nil {
				_ = second(n.Open())
				_ = n.Close()
			}
		}
	}
	if after := openHandles(); after > before+8 {
		t.Errorf("%d handles before, %d after", before, after)
	}
}

// The walk component by component must agree with the short cut.
func TestWalkWithoutShortCut(t *testing.T) {
	t.Parallel()
	root := tree(t, "a/b/f")
	for _, path := range []string{"a/b/f", "a/b/", "a/../a/b/f", "a/x", "a/b/f/"} {
		fast, err := Resolve(root, path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := name(root, path)
		if err != nil {
			t.Fatal(err)
		}
		slow := &Node{Target: p.target, held: handle{fd: -1}}
		if err := walk(slow, p); err != nil {
			t.Fatal(err)
		}
		if slow.Real != fast.Real || !slow.Info.Same(fast.Info) || abi.CodeOf(slow.Err()) != abi.CodeOf(fast.Err()) {
			t.Errorf("%s: %+v, %+v", path, slow, fast)
		}
		_ = slow.Close()
		_ = fast.Close()
	}
}
