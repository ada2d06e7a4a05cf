package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// exchange swaps what two names lead to, in one step.
func exchange(t *testing.T, a, b string) {
	t.Helper()
	if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
		t.Error(err)
	}
}

// TestLinkSwaps exchanges directories and files with links that lead outside, ten
// thousand times while searches run: nothing from outside may be found.
func TestLinkSwaps(t *testing.T) {
	t.Parallel()
	outside := tree(t, "secret-name", "needle out there", "d/secret-name", "needle out there")
	root := tree(t, "d/one", "needle", "d/d/two", "needle", "file", "needle", "e/d/three", "needle")
	link := func(name, to string) string {
		path := filepath.Join(root, name)
		if err := os.Symlink(filepath.Join(outside, to), path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pairs := [][2]string{
		{filepath.Join(root, "d"), link("l1", ".")},
		{filepath.Join(root, "e/d"), link("l2", "d")},
		{filepath.Join(root, "file"), link("l3", "secret-name")},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range testenv.Sample(10_000) {
			pair := pairs[i%len(pairs)]
			exchange(t, pair[0], pair[1])
		}
	}()
	found := 0
	for running := true; running; {
		select {
		case <-done:
			running = false // and one search more
		default:
		}
		list, _, err := names(t, root, abi.NamesArgs{Pattern: "**"}, all)
		if err != nil || strings.Contains(list, "secret") {
			t.Fatalf("%q %v", list, err)
		}
		_, body, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "needle", Mode: abi.ModeContent}, all)
		if err != nil || strings.Contains(body, "out there") {
			t.Fatalf("%q %v", body, err)
		}
		found += strings.Count(body, "needle")
		// The directory named itself may be the link: then its target is what is
		// judged, so that the search says where it was.
		ok, _, err := call(t, filepath.Dir(outside), abi.CapSearchNames, abi.NamesArgs{Path: filepath.Join(root, "d"), Pattern: "secret*"}, all)
		if head, _ := ok.(abi.NamesOK); err == nil && head.Count > 0 && head.Path != outside {
			t.Fatalf("found outside, and said to be in %s", head.Path)
		}
	}
	if found == 0 {
		t.Error("no search found anything")
	}
}

// TestChangesInMidWalk creates, renames and removes while searches run: none may
// fail, and what stays in place is found each time.
func TestChangesInMidWalk(t *testing.T) {
	t.Parallel()
	pairs := []string{}
	for i := range 40 {
		pairs = append(pairs, fmt.Sprintf("stays/%d/file", i), "needle")
	}
	root := tree(t, pairs...)
	stop := make(chan struct{})
	var hammer sync.WaitGroup
	for seed := range uint64(2) {
		hammer.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, 1))
			path := func() string { return filepath.Join(root, fmt.Sprintf("goes-%d", seed), strconv.Itoa(rnd.IntN(20))) }
			for {
				select {
				case <-stop:
					return
				default:
				}
				// Each may fail, for what the one before did.
				dir := path()
				_ = os.MkdirAll(dir, 0o755)
				_ = os.WriteFile(filepath.Join(dir, "file"), []byte("needle\n"), 0o600)
				_ = os.Rename(dir, path())
				_ = os.RemoveAll(path())
			}
		})
	}
	for range testenv.Sample(50) {
		list, head, err := names(t, root, abi.NamesArgs{Pattern: "**/file"}, all)
		if err != nil || strings.Count(list, "stays/") != 40 || head.Unreadable != 0 {
			t.Errorf("%v, %d of 40, %+v", err, strings.Count(list, "stays/"), head)
			break
		}
		_, body, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "needle"}, all)
		if err != nil || strings.Count(body, "stays/") != 40 {
			t.Errorf("%v, %d of 40", err, strings.Count(body, "stays/"))
			break
		}
	}
	close(stop)
	hammer.Wait()
}

// TestSpecialFiles: what is no file is never opened, and the size of one does not
// matter to its name.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	root := tree(t, "file", "needle", "dir/file", "needle")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(root, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, err := range []error{
		syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600),
		os.Symlink("/dev/zero", filepath.Join(root, "device")),
		os.Symlink(".", filepath.Join(root, "loop")),
		os.Symlink("/proc/self/root", filepath.Join(root, "everything")),
		os.Link(filepath.Join(root, "file"), filepath.Join(root, "hard link")),
		os.WriteFile(filepath.Join(root, "holes"), nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const hundredGB = 100 << 30
	if err := os.Truncate(filepath.Join(root, "holes"), hundredGB); err != nil {
		t.Fatal("a file system with sparse files is needed: ", err)
	}
	testenv.InTime(t, time.Second, func() time.Duration {
		return testenv.Took(func() {
			_, body, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "needle", Mode: abi.ModeCount}, all)
			if want := "dir/file:1\nfile:1\nhard link:1\n"; err != nil || body != want {
				t.Errorf("got %q, want %q, %v", body, want, err)
			}
			list, _, err := names(t, root, abi.NamesArgs{Pattern: "**", Limit: 10}, all)
			if err != nil || strings.Contains(list, "socket") || strings.Contains(list, "fifo") || strings.Contains(list, "loop") || !strings.Contains(list, "holes") {
				t.Errorf("%q %v", list, err)
			}
		})
	})
	for _, path := range []string{"/proc/self/root", "everything", "everything/etc", "device", "/dev"} {
		if _, _, err := names(t, root, abi.NamesArgs{Path: path, Pattern: "*"}, all); err == nil {
			t.Errorf("%s was searched", path)
		}
	}
}

// TestPathsToSearch names one directory in many ways.
func TestPathsToSearch(t *testing.T) {
	t.Parallel()
	root := tree(t, "dir/file", "", "d\u00e9j\u00e0/nfc", "", "de\u0301ja\u0300/nfd", "", "DIR/upper", "")
	for path, want := range map[string]string{
		"dir": "dir/file", "dir/": "dir/file", "dir//": "dir/file", "dir/.": "dir/file", "./dir": "dir/file", "dir/../dir/": "dir/file",
		"d\u00e9j\u00e0": "d\u00e9j\u00e0/nfc", "de\u0301ja\u0300": "de\u0301ja\u0300/nfd", "DIR": "DIR/upper",
	} {
		if got, _, err := names(t, root, abi.NamesArgs{Path: path, Pattern: "*"}, all); err != nil || got != want {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"dir/file/", "dir/file/.", "dir/file/..", "Dir", strings.Repeat("x", 300), strings.Repeat("x/", 4096), "a\x00b"} {
		if got, _, err := names(t, root, abi.NamesArgs{Path: path, Pattern: "*"}, all); err == nil {
			t.Errorf("%.20q: %q", path, got)
		}
	}
}

// TestLongPaths: a walk goes by handles, so that a path may be longer than the
// system takes.
func TestLongPaths(t *testing.T) {
	t.Parallel()
	root := tree(t, "file", "needle")
	name := strings.Repeat("n", 255)
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for range 30 { // 7,680 bytes
		if err == nil {
			err = unix.Mkdirat(fd, name, 0o755)
		}
		next := -1
		if err == nil {
			next, err = unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		}
		_ = unix.Close(fd)
		fd = next
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := unix.Openat(fd, "deep", unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err == nil {
		_, err = unix.Write(file, []byte("needle\n"))
		_ = unix.Close(file)
	}
	_ = unix.Close(fd)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := names(t, root, abi.NamesArgs{Pattern: "**/deep"}, all)
	if err != nil || len(list) != 30*256+len("deep") {
		t.Errorf("%d bytes, %v", len(list), err)
	}
	_, body, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "needle"}, all)
	if err != nil || strings.Count(body, "\n") != 2 {
		t.Errorf("%d lines, %v", strings.Count(body, "\n"), err)
	}
}

// manyEntries is how many files the one directory has.
const manyEntries = 5_000

// TestHugeDirectory: all entries of a directory are seen, and a walk of it ends in
// time once it is cancelled.
func TestHugeDirectory(t *testing.T) {
	root := tree(t, "huge/first", "")
	original := filepath.Join(root, "huge", "file")
	if err := os.WriteFile(original, []byte("needle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	makeLinks(t, original, manyEntries-1)
	_, head, err := names(t, root, abi.NamesArgs{Pattern: "**/file*", Limit: 100}, all)
	if err != nil || head.Total != manyEntries || head.Count != 100 || !head.Truncated {
		t.Errorf("%+v %v", head, err)
	}
	testenv.InTime(t, 50*time.Millisecond, func() time.Duration {
		p, err := plan(t, root, abi.CapSearchNames, abi.NamesArgs{Pattern: "**/*[0-8]"})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var asked atomic.Int64
		var at time.Time
		_, err = p.Do(ctx, func(permissions.Access) bool {
			switch n := asked.Add(1); {
			case n == 1000:
				at = time.Now()
				cancel()
			case n > 1000:
				<-ctx.Done() // the one that ends it may be late
			}
			return true
		})
		if abi.CodeOf(err) != abi.CodeCancelled || asked.Load() > manyEntries/2 {
			t.Errorf("after %d files: %v", asked.Load(), err)
		}
		return time.Since(at)
	})
}

// makeLinks gives a file so many further names.
func makeLinks(t *testing.T, path string, n int) {
	t.Helper()
	for i := range n {
		if err := os.Link(path, fmt.Sprintf("%s-%d", path, i)); err != nil {
			t.Fatal(err)
		}
	}
}
