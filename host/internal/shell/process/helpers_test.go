//go:build linux

package process_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/testenv"
)

// gone is how long what is told to be gone may still be there.
const gone = 20 * time.Second

// TestMain makes the test binary fit to be its own supervisor, and to be a host that is
// killed.
func TestMain(m *testing.M) {
	process.Main()
	if helper, ok := helpers[os.Getenv(helperName)]; ok {
		helper()
		os.Exit(0)
	}
	testenv.Waiting()
	os.Exit(m.Run())
}

// helperName is the variable that makes the test binary something else.
const helperName = "TOOLQUAY_PROCESS_TEST"

// markName is a variable that all processes of one test have, by which they are found.
const markName = "TOOLQUAY_PROCESS_MARK"

var marks atomic.Int64

// mark is a text that nothing else on this machine has in its environment.
func mark(tb testing.TB) string {
	tb.Helper()
	return markName + "=" + tb.Name() + "." + strconv.Itoa(os.Getpid()) + "." + strconv.FormatInt(marks.Add(1), 10)
}

// survivors are the processes with a text in their environment or arguments.
func survivors(tb testing.TB, text string) []string {
	tb.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		tb.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		dir := filepath.Join("/proc", entry.Name())
		environment, _ := os.ReadFile(filepath.Join(dir, "environ")) // it may be gone
		arguments, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if bytes.Contains(environment, []byte(text)) || bytes.Contains(arguments, []byte(text)) {
			found = append(found, entry.Name()+" "+string(bytes.ReplaceAll(arguments, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// noSurvivors fails where processes with the text are still there after a time.
func noSurvivors(tb testing.TB, text string, within time.Duration) {
	tb.Helper()
	deadline := time.Now().Add(within)
	for {
		found := survivors(tb, text)
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("%d processes are left after %v:\n%s", len(found), within, strings.Join(found, "\n"))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// supervisors are some that are closed with the test.
func supervisors(tb testing.TB) *process.Supervisors {
	tb.Helper()
	k := process.New(process.Options{Logger: slog.New(slog.DiscardHandler)})
	tb.Cleanup(func() {
		if err := k.Close(); err != nil {
			tb.Error(err)
		}
	})
	return k
}

// bash is a command of bash, which gets its arguments as $1 and so on.
func bash(tb testing.TB, script, mark string, files ...*os.File) process.Command {
	tb.Helper()
	return process.Command{
		Path: testenv.NeedTool(tb, "bash"), Args: []string{"bash", "-c", script},
		Env: []string{"PATH=" + os.Getenv("PATH"), mark}, Files: files,
	}
}

// start starts a command that has to start.
func start(tb testing.TB, k *process.Supervisors, c process.Command) *process.Process {
	tb.Helper()
	p, err := k.Start(context.Background(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// await waits for a channel that is to be closed.
func await(tb testing.TB, what string, c <-chan struct{}, within time.Duration) {
	tb.Helper()
	select {
	case <-c:
	case <-time.After(within):
		tb.Fatalf("not %s after %v", what, within)
	}
}

// finish waits until nothing is left, and returns how it ended.
func finish(tb testing.TB, p *process.Process) process.Status {
	tb.Helper()
	await(tb, "gone", p.Gone(), testenv.Patience)
	await(tb, "done", p.Done(), gone)
	return p.Status()
}

// output starts a command with a pipe for its output, and returns what it wrote when
// nothing of it is left.
func output(tb testing.TB, k *process.Supervisors, c process.Command) (string, process.Status) {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	c.Files = append([]*os.File{nil, w, w}, c.Files...)
	p := start(tb, k, c)
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	all, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return string(all), finish(tb, p)
}

// saying starts a command and returns when it has written a line: what it is to do first
// is done then.
func saying(tb testing.TB, k *process.Supervisors, c process.Command) *process.Process {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	c.Files = []*os.File{nil, w}
	p := start(tb, k, c)
	_ = w.Close()
	line(tb, r)
	tb.Cleanup(func() { _ = r.Close() })
	return p
}

// line reads one line.
func line(tb testing.TB, r io.Reader) string {
	tb.Helper()
	var text []byte
	b := make([]byte, 1)
	for {
		if _, err := r.Read(b); err != nil {
			tb.Fatalf("after %q: %v", text, err)
		}
		if b[0] == '\n' {
			return string(text)
		}
		text = append(text, b[0])
	}
}

// status is what the supervisors' tests compare: without times.
func status(s process.Status) process.Status {
	s.User, s.System = 0, 0
	return s
}
