//go:build unix

package audit_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
)

const (
	childEnv = "TOOLQUAY_TEST_AUDIT_CHILD"
	childDir = "TOOLQUAY_TEST_AUDIT_DIR"
	perChild = 300
)

// children are what this test binary does when it is started as another process.
var children = map[string]func(dir string){
	"append": func(dir string) { childAppends(dir, perChild) },
	"endless": func(dir string) {
		fmt.Println("begun")
		childAppends(dir, 1<<40)
	},
	"full": childFillsDisk,
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

func childAppends(dir string, n int) {
	l, err := audit.Open(dir, audit.Options{SegmentBytes: 50_000})
	must(err)
	for range n {
		must(l.Append(audit.Entry{Subject: audit.Subject{Tool: "T"}, Finding: audit.Finding{Verdict: permissions.Allow, Reason: strings.Repeat("r", 300)}}))
	}
	must(l.Close())
}

func TestProcessesShareALog(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	var running []*exec.Cmd
	for range 4 {
		cmd := child(t, "append", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if r := sound(t, dir); r.Decisions != 4*perChild || r.Segments < 2 || r.Notices != 0 || r.Torn != 0 {
		t.Errorf("%+v", r)
	}
}

// TestKilledWriters kills processes while they append. None leaves a lock, a
// log that does not verify, or one that cannot be continued.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	for i := range 8 {
		cmd := child(t, "endless", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 3 * time.Millisecond) // whenever: that is the test
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
	}
	add(t, open(t, dir, audit.Options{}), "last")
	sound(t, dir)
}

// childFillsDisk appends until the system has no more room for the file, goes on
// for a while, and then gets room again.
func childFillsDisk(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	l, err := audit.Open(dir, audit.Options{Sync: audit.SyncNever})
	must(err)
	var old syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	// No multiple of a line's length, so that part of a line fits.
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2999, Max: old.Max}))
	e := audit.Entry{Subject: audit.Subject{Tool: "T"}, Finding: audit.Finding{Verdict: permissions.Allow}}
	written := 0
	for err = l.Append(e); err == nil; err = l.Append(e) {
		written++
	}
	if !errors.Is(err, syscall.EFBIG) {
		must(fmt.Errorf("not what a full disk says: %w", err))
	}
	for range 4 {
		if l.Append(e) == nil {
			must(errors.New("there was room after all"))
		}
	}
	if l.Lost() != 5 {
		must(fmt.Errorf("%d are lost", l.Lost()))
	}
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
	must(l.Append(audit.Entry{Subject: audit.Subject{Tool: "after"}, Finding: audit.Finding{Verdict: permissions.Allow}}))
	if l.Lost() != 0 {
		must(fmt.Errorf("%d are still lost", l.Lost()))
	}
	must(l.Close())
	fmt.Println(written)
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := logDir(t)
	out, err := child(t, "full", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	r := sound(t, dir)
	if r.Lost != 5 || r.Torn != 0 || fmt.Sprintln(r.Decisions-1) != string(out) {
		t.Errorf("%s were written; %+v", out, r)
	}
	if got := tools(read(t, dir, audit.Filter{Marks: true, Limit: 3})); got != "after <gap> T" {
		t.Error(got)
	}
}

// TestRefusals puts what is not a log of the user's own where one should be.
func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]func(dir, path string) error{
		"a symbolic link": func(dir, path string) error {
			target := filepath.Join(filepath.Dir(dir), "elsewhere")
			return errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, path))
		},
		"a link to nothing": func(dir, path string) error { return os.Symlink(filepath.Join(dir, "new"), path) },
		"a FIFO":            func(_, path string) error { return syscall.Mkfifo(path, 0o600) },
		"a directory":       func(_, path string) error { return os.Mkdir(path, 0o700) },
		"a file that others may read": func(_, path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o644))
		},
	}
	if os.Geteuid() == 0 {
		tests["another user's file"] = func(_, path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 12345, 12345))
		}
	}
	for name, put := range tests {
		for _, file := range []string{"lock", "head", "log-000001.jsonl"} {
			t.Run(name+" as "+file, func(t *testing.T) {
				t.Parallel()
				dir := logDir(t)
				if err := errors.Join(os.Mkdir(dir, 0o700), put(dir, filepath.Join(dir, file))); err != nil {
					t.Fatal(err)
				}
				if l, err := audit.Open(dir, audit.Options{}); err == nil || !strings.Contains(err.Error(), file) {
					t.Errorf("%v, %v", l, err)
				}
			})
		}
	}
	dir := logDir(t)
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Open(dir, audit.Options{}); err == nil {
		t.Error("a directory open to others is taken")
	}
	link := logDir(t)
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Open(link, audit.Options{}); err == nil {
		t.Error("a link to a directory is taken")
	}
}

// TestUnwritable takes the right to write away from an open log.
func TestUnwritable(t *testing.T) {
	testenv.BoundByPermissions(t)
	dir := logDir(t)
	l := open(t, dir, audit.Options{SegmentBytes: 1})
	add(t, l, "A")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(audit.Entry{Subject: audit.Subject{Tool: "B"}}); err == nil || l.Lost() != 1 {
		t.Errorf("%v, %d lost", err, l.Lost())
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	add(t, l, "C")
	if r := sound(t, dir); r.Lost != 1 || l.Lost() != 0 {
		t.Errorf("%+v, %d lost", r, l.Lost())
	}
}
