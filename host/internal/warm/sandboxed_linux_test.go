package warm_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/host/internal/warm"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestMain makes the test binary fit to be a supervisor.
func TestMain(m *testing.M) {
	process.Main()
	testenv.Waiting()
	status := m.Run()
	if err := supervisors.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// realStart returns what starts shells as the host does.
func realStart(tb testing.TB) warm.Options {
	tb.Helper()
	testenv.Permitted(tb, testenv.Linux)
	testenv.NeedTool(tb, "bwrap")
	box, report := sandbox.Find(tb.Context(), sandbox.Options{State: filepath.Join(tb.TempDir(), "state")})
	if !report.Available {
		tb.Fatal(report)
	}
	return warm.Options{Start: warm.Sandboxed(supervisors, box, process.Limits{})}
}

// TestSandboxed runs commands as the host does: they read what they may, write
// nothing, not even where the specification would let them, and leave nothing behind.
func TestSandboxed(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, realStart(t)), tree(t)
	spec := sandbox.Spec{Cwd: dir, Writable: []string{dir}, Hidden: []string{filepath.Join(dir, ".hidden")}, Network: sandbox.NetworkAll}
	for _, tt := range []struct {
		command, stdout, stderr string
		exit                    int
	}{
		{"cd src && cat main.go | wc -l", "3\n", "", 0},
		{"cat .hidden", "", "cat: .hidden: ", 1},
		{"echo x >new", "", "bash: line 1: new: Read-only file system\n", 1},
		{"echo x >/tmp/new; echo x >/dev/new; echo x >/dev/shm/new; ls /tmp/new /dev/new /dev/shm/new 2>/dev/null", "", "bash: line 1: /tmp/new: ", 2},
		{"sleep 1000 & echo ok", "ok\n", "", 0},
		{"grep -c : /proc/net/dev", "1\n", "", 0}, // lo
		{"ls /proc/self/fd; true", "0\n1\n2\n3\n", "", 0},
	} {
		var stdout, stderr bytes.Buffer
		result, err := pool.RunUnfit(t.Context(), &warm.Request{
			Spec: spec, Env: environment(), Dir: dir, Command: tt.command, Stdout: &stdout, Stderr: &stderr,
		})
		if err != nil || stdout.String() != tt.stdout || !strings.HasPrefix(stderr.String(), tt.stderr) || result.Exit != tt.exit {
			t.Errorf("%s: %+v %q %q %v", tt.command, result, stdout.String(), stderr.String(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a file is written")
	}
}

// BenchmarkSandboxed is BenchmarkTrue as the host does it.
func BenchmarkSandboxed(b *testing.B) {
	pool := newPool(b, realStart(b))
	r := &warm.Request{Spec: sandbox.Spec{Cwd: "/"}, Env: environment(), Dir: "/", Command: "true", Stdout: io.Discard, Stderr: io.Discard}
	for b.Loop() {
		if _, err := pool.Run(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
