//go:build unix

package sessiondir_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/internal/testenv"
)

const childEnv, childDir = "TOOLQUAY_TEST_FOLDER_CHILD", "TOOLQUAY_TEST_FOLDER_DIR"

// children are what this test binary does when it is started as another process.
var children = map[string]func(dir string){
	"hold": childHolds,
	"full": childFillsDisk,
}

func TestMain(m *testing.M) {
	if do := children[os.Getenv(childEnv)]; do != nil {
		do(os.Getenv(childDir))
		return
	}
	testenv.Waiting()
	m.Run()
}

func child(tb testing.TB, what, dir string) *exec.Cmd {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+what, childDir+"="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func childHolds(dir string) {
	log, _ := logged()
	f, err := sessiondir.Open(dir, "s", log)
	must(err)
	must(f.Append(sessiondir.Record{Kind: "a", Data: "child's"}))
	fmt.Println("held")
	time.Sleep(time.Hour)
}

// TestOtherProcess meets a directory that another process uses, and then one whose
// user was killed.
func TestOtherProcess(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	cmd := child(t, "hold", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatal(line, err)
	}
	log, _ := logged()
	if _, err := sessiondir.Open(dir, "s", log); !errors.Is(err, sessiondir.ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("process %d,", cmd.Process.Pid)) {
		t.Errorf("got %v", err)
	}
	if n, err := sweep(dir, -time.Hour, log); n != 0 || err != nil {
		t.Errorf("a directory in use is swept: %d, %v", n, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if got := recall(t, open(t, dir, "s"), "a"); !slices.Equal(got, []string{"child's"}) {
		t.Errorf("got %q", got)
	}
}

// childFillsDisk appends until the system has no more room for the file, then gets
// room again.
func childFillsDisk(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	log, _ := logged()
	f, err := sessiondir.Open(dir, "s", log)
	must(err)
	var old syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 999, Max: old.Max}))
	r := sessiondir.Record{Kind: "a", Data: "before"}
	written := 0
	for err = f.Append(r); err == nil; err = f.Append(r) {
		written++
	}
	if !errors.Is(err, syscall.EFBIG) {
		must(fmt.Errorf("not what a full disk says: %w", err))
	}
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
	must(f.Append(sessiondir.Record{Kind: "b", Data: "after"}))
	fmt.Println(written)
	os.Exit(0) // without closing it
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	out, err := child(t, "full", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, dir, "s")
	if got := recall(t, f, "a"); fmt.Sprintln(len(got)) != string(out) || len(got) == 0 {
		t.Errorf("%d of %s records", len(got), out)
	}
	if got := recall(t, f, "b"); !slices.Equal(got, []string{"after"}) {
		t.Errorf("got %q", got)
	}
}

// TestRefusals puts what is not the user's own where a directory's parts should be.
func TestRefusals(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	tests := map[string]func(path string) error{
		"a link to a file": func(path string) error {
			target := filepath.Join(elsewhere, "file")
			return errors.Join(os.WriteFile(target, []byte("precious"), 0o600), os.Symlink(target, path))
		},
		"a link to a directory": func(path string) error {
			return os.Symlink(elsewhere, path)
		},
		"a FIFO": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"open to others": func(path string) error {
			if filepath.Base(path) == "journal.jsonl" || filepath.Base(path) == "session" {
				return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o644))
			}
			return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o755))
		},
	}
	if os.Geteuid() == 0 { // nobody else can give files away
		tests["another user's"] = func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 1, 1))
		}
		tests["another user's directory"] = func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.Chown(path, 1, 1))
		}
	}
	for name, put := range tests {
		for _, part := range []string{"", "s", "s/session", "s/journal.jsonl", "s/files"} {
			t.Run(name+" as "+part, func(t *testing.T) {
				t.Parallel()
				dir := parent(t)
				path := filepath.Join(dir, part)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), put(path)); err != nil {
					t.Fatal(err)
				}
				log, _ := logged()
				f, err := sessiondir.Open(dir, "s", log)
				if err == nil {
					defer f.Close()
					_, err = f.Temp("files")
				}
				if err == nil || !strings.Contains(err.Error(), path) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	t.Cleanup(func() {
		if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 1 {
			t.Errorf("something was put where links lead: %v, %v", entries, err)
		}
	})
}

// aged makes the directory of a session that was last used so long ago.
func aged(tb testing.TB, dir, id string, age time.Duration) string {
	tb.Helper()
	f := open(tb, dir, id)
	add(tb, f, "a", "1")
	spit(tb, filepath.Join(f.Path(), "files", "deep", "x.txt"), []byte("x"))
	shut(tb, f)
	backdate(tb, f.Path(), age)
	return f.Path()
}

func backdate(tb testing.TB, path string, age time.Duration) {
	tb.Helper()
	then := time.Now().Add(-age)
	for _, name := range []string{"session", "journal.jsonl"} {
		if err := os.Chtimes(filepath.Join(path, name), then, then); err != nil && !errors.Is(err, os.ErrNotExist) {
			tb.Fatal(err)
		}
	}
}

// sweep removes the directories of sessions that were not used for so long. What is not theirs,
// and what is in use, stays; everything else is told.
func sweep(dir string, age time.Duration, log *slog.Logger) (removed int, err error) {
	parent, err := os.OpenRoot(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer parent.Close()
	entries, err := os.ReadDir(dir)
	before := time.Now().Add(-age)
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if used, err := sessiondir.LastUsed(parent, entry.Name()); err != nil || used.After(before) {
			continue
		}
		switch err := sessiondir.Remove(parent, entry.Name(), before); {
		case err == nil:
			removed++
		case errors.Is(err, sessiondir.ErrForeign), errors.Is(err, sessiondir.ErrInUse), errors.Is(err, os.ErrNotExist):
		default:
			log.Warn("not removed", "directory", filepath.Join(dir, entry.Name()), "error", err)
		}
	}
	return removed, err
}

func TestSweep(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	outside := t.TempDir()
	spit(t, filepath.Join(outside, "precious"), []byte("x"))
	tests := map[string]struct {
		put  func(tb testing.TB, dir string) (path string)
		gone bool
	}{
		"old": {func(tb testing.TB, dir string) string {
			tb.Helper()
			return aged(tb, dir, "s", 31*day)
		}, true},
		"young": {func(tb testing.TB, dir string) string {
			tb.Helper()
			return aged(tb, dir, "s", 29*day)
		}, false},
		"an odd name": {func(tb testing.TB, dir string) string {
			tb.Helper()
			return aged(tb, dir, "a/b", 31*day)
		}, true},
		"with links in it": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			if err := errors.Join(os.Symlink(outside, filepath.Join(path, "link")), os.Symlink(outside, filepath.Join(path, "files", "link"))); err != nil {
				tb.Fatal(err)
			}
			return path
		}, true},
		"with what cannot be read in it": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			if err := os.WriteFile(filepath.Join(path, "mute"), nil, 0); err != nil {
				tb.Fatal(err)
			}
			return path
		}, true},
		"left half removed": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			if err := os.Remove(filepath.Join(path, "journal.jsonl")); err != nil {
				tb.Fatal(err)
			}
			return path
		}, true},
		"a journal that was written to": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			now := time.Now()
			if err := os.Chtimes(filepath.Join(path, "journal.jsonl"), now, now); err != nil {
				tb.Fatal(err)
			}
			return path
		}, false},
		"in use": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 0)
			open(tb, dir, "s")
			backdate(tb, path, 31*day)
			return path
		}, false},
		"opened again": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			shut(tb, open(tb, dir, "s"))
			return path
		}, false},
		"closed after a long time": {func(tb testing.TB, dir string) string {
			tb.Helper()
			f := open(tb, dir, "s")
			add(tb, f, "a", "1")
			backdate(tb, f.Path(), 31*day)
			shut(tb, f)
			return f.Path()
		}, false},
		"under another name": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			if err := os.Rename(path, filepath.Join(dir, "mine")); err != nil {
				tb.Fatal(err)
			}
			return filepath.Join(dir, "mine")
		}, false},
		"a link to one": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, tb.TempDir()+"/elsewhere", "s", 31*day)
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.Symlink(path, filepath.Join(dir, "s"))); err != nil {
				tb.Fatal(err)
			}
			return filepath.Join(path, "journal.jsonl")
		}, false},
		"open to others": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			if err := os.Chmod(path, 0o755); err != nil {
				tb.Fatal(err)
			}
			return path
		}, false},
		"no marker": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			if err := os.Remove(filepath.Join(path, "session")); err != nil {
				tb.Fatal(err)
			}
			return path
		}, false},
		"another program's": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := filepath.Join(dir, "s")
			spit(tb, filepath.Join(path, "session"), []byte("my own session\n"))
			backdate(tb, path, 31*day)
			return path
		}, false},
		"a later version": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			spit(tb, filepath.Join(path, "session"), []byte(`{"version":2,"session":"s"}`))
			backdate(tb, path, 31*day)
			return path
		}, false},
		"a link for a marker": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := aged(tb, dir, "s", 31*day)
			if err := errors.Join(os.Rename(path+"/session", path+"/real"), os.Symlink("real", path+"/session")); err != nil {
				tb.Fatal(err)
			}
			return path
		}, false},
		"a file": {func(tb testing.TB, dir string) string {
			tb.Helper()
			spit(tb, filepath.Join(dir, "s"), []byte("x"))
			return filepath.Join(dir, "s")
		}, false},
		"never begun": {func(tb testing.TB, dir string) string {
			tb.Helper()
			path := filepath.Join(dir, "s")
			then := time.Now().Add(-31 * day)
			if err := errors.Join(os.MkdirAll(path, 0o700), os.Chtimes(path, then, then)); err != nil {
				tb.Fatal(err)
			}
			return path
		}, true},
		"never signed": {func(tb testing.TB, dir string) string {
			tb.Helper()
			spit(tb, filepath.Join(dir, "s", "session"), nil)
			backdate(tb, filepath.Join(dir, "s"), 31*day)
			return filepath.Join(dir, "s")
		}, true},
		"never signed, with files": {func(tb testing.TB, dir string) string {
			tb.Helper()
			spit(tb, filepath.Join(dir, "s", "session"), nil)
			spit(tb, filepath.Join(dir, "s", "mine"), nil)
			backdate(tb, filepath.Join(dir, "s"), 31*day)
			return filepath.Join(dir, "s")
		}, false},
		"nothing": {func(_ testing.TB, dir string) string { return filepath.Join(dir, "s") }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := parent(t)
			path := test.put(t, dir)
			log, told := logged()
			n, err := sweep(dir, 30*day, log)
			if err != nil || told.Len() > 0 {
				t.Errorf("%v, %s", err, told)
			}
			if exists(t, path) == test.gone || (n == 1) != (test.gone && name != "nothing") {
				t.Errorf("%d removed; there: %v", n, exists(t, path))
			}
		})
	}
	t.Cleanup(func() {
		if !exists(t, filepath.Join(outside, "precious")) {
			t.Error("what links led to was removed")
		}
	})
}

// TestSweepRaces opens a session again and again while others sweep whatever nobody
// uses. It opens each time, and is left alone while it is open.
func TestSweepRaces(t *testing.T) {
	t.Parallel()
	dir := parent(t)
	log, told := logged()
	done := make(chan struct{})
	var sweepers sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := sweep(dir, -time.Hour, log); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 40 {
		f, err := sessiondir.Open(dir, "s", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		path, err := f.Write("files", "x", func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err })
		if err != nil {
			t.Fatal(err)
		}
		for range i % 3 {
			add(t, f, "a", "1")
		}
		if !exists(t, path) || !exists(t, filepath.Join(dir, "s", "session")) || !exists(t, filepath.Join(dir, "s", "journal.jsonl")) {
			t.Fatal("it was swept while it was open")
		}
		shut(t, f)
	}
	close(done)
	sweepers.Wait()
	for line := range strings.Lines(told.String()) {
		if !strings.Contains(line, "was replaced while it was opened") {
			t.Errorf("it was told: %s", line)
		}
	}
}

// TestSweepFails cannot remove a directory, which stays one of ours.
func TestSweepFails(t *testing.T) {
	dir := parent(t)
	path := aged(t, dir, "s", time.Hour)
	testenv.BoundByPermissions(t)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	log, told := logged()
	if n, err := sweep(dir, 0, log); n != 0 || err != nil || !strings.Contains(told.String(), path) {
		t.Errorf("%d, %v, %s", n, err, told)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if n, err := sweep(dir, 0, log); n != 1 || err != nil || exists(t, path) {
		t.Errorf("then %d, %v", n, err)
	}
}

// TestCloseWhileAProcessStarts opens a session anew while a copy of its files is open, as it is
// for a moment in each process that is started.
func TestCloseWhileAProcessStarts(t *testing.T) {
	t.Parallel()
	parent := filepath.Join(t.TempDir(), "sessions")
	d := open(t, parent, "s")
	add(t, d, "k", "x")
	var marker, at syscall.Stat_t
	if err := syscall.Stat(filepath.Join(d.Path(), "session"), &marker); err != nil {
		t.Fatal(err)
	}
	fd := 0
	for syscall.Fstat(fd, &at) != nil || at.Ino != marker.Ino || at.Dev != marker.Dev {
		if fd++; fd > 10_000 {
			t.Fatal("the marker is not open")
		}
	}
	another, err := syscall.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(another) }()
	shut(t, d)
	open(t, parent, "s")
}

// TestRemovedBySeveral: whoever comes late finds nothing, and makes nothing anew.
func TestRemovedBySeveral(t *testing.T) {
	t.Parallel()
	for range 80 {
		dir := parent(t)
		path := aged(t, dir, "s", 48*time.Hour)
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now().Add(-time.Hour)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				_ = sessiondir.Check(root, "s") // it may be in use, or gone
				if err := sessiondir.Remove(root, "s", before); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, sessiondir.ErrInUse) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if err := root.Close(); err != nil {
			t.Error(err)
		}
		if exists(t, path) {
			t.Fatal("the directory is still there, or is there again")
		}
	}
}
