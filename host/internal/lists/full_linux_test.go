package lists_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// fullDisk is set in the environment of the process that fills a small disk, and readOnly
// in that of the one that has a list which nothing can be written in.
const (
	fullDisk = "TOOLQUAY_TEST_FULL_DISK"
	readOnly = "TOOLQUAY_TEST_READ_ONLY"
)

// again runs a test again in a sandbox, where a variable names the directory.
func again(t *testing.T, variable, dir string, mount ...string) {
	t.Helper()
	bwrap := testenv.NeedTool(t, "bwrap")
	args := append([]string{"--dev-bind", "/", "/"}, mount...)
	cmd := exec.CommandContext(t.Context(), bwrap, append(args, os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")...)
	cmd.Env = append(os.Environ(), variable+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "it was tried") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// On a full disk everything is as it was, and said so; what is deleted makes room again.
func TestFullDisk(t *testing.T) {
	dir := os.Getenv(fullDisk)
	if dir == "" {
		t.Parallel()
		dir = t.TempDir()
		again(t, fullDisk, dir, "--size", "131072", "--tmpfs", dir)
		return
	}
	r := newRoom(t)
	r.dir = dir
	r.reopen()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 10_000)
	var err error
	made := 0
	for ; err == nil; made++ {
		_, err = r.Create(t.Context(), &abi.WorkChange{Subject: new("a"), Description: &long}, nil)
	}
	if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "no task was made") || !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		t.Errorf("got %v", err)
	}
	before := r.all()
	if n := strings.Count(before, "pending"); n != made-1 || n < 2 {
		t.Errorf("%d tasks are there, of %d", n, made-1)
	}
	longer := strings.Repeat("y", 20_000)
	if _, err := r.Update(t.Context(), "1", &abi.WorkChange{Subject: new("b"), Description: &longer}, "main", nil); abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "task 1 is as it was") {
		t.Errorf("got %v", err)
	}
	if got := r.all(); got != before || strings.Contains(strings.Join(r.files(), " "), ".tmp-") {
		t.Errorf("it is\n%s\nwith %q", got, r.files())
	}
	for range 2 {
		for _, id := range []string{"2", "1"} {
			r.change(id, `{"status":"deleted"}`)
		}
	}
	r.create("there is room")
	t.Log("it was tried")
}

// A list that nothing can be written in is read, and not changed.
func TestReadOnly(t *testing.T) {
	dir := os.Getenv(readOnly)
	if dir == "" {
		t.Parallel()
		r := newRoom(t)
		r.create("a", "b")
		again(t, readOnly, r.dir, "--ro-bind", r.dir, r.dir)
		return
	}
	r := newRoom(t)
	r.dir = dir
	r.reopen()
	if got, want := r.all(), "1 a pending  [] []\n2 b pending  [] []"; got != want {
		t.Errorf("got\n%s", got)
	}
	if _, err := r.Create(t.Context(), &abi.WorkChange{Subject: new("c")}, nil); abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "could not be changed") {
		t.Errorf("got %v", err)
	}
	if got := r.change("1", `{"status":"deleted"}`); !strings.HasPrefix(got, "io: the list of tasks could not be changed") {
		t.Errorf("got %s", got)
	}
	t.Log("it was tried")
}
