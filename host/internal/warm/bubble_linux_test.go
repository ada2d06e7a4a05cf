package warm_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/warm"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

// bash is what shells are run as, here and there.
const bash = "bash"

// bubble are bubblewrap's arguments for a sandbox where nothing can be written.
var bubble = []string{
	"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run",
	"--unshare-all", "--die-with-parent", "--new-session", "--",
}

// supervisors have all that tests start. A bubblewrap alone is not enough: killed while it
// makes its sandbox, it leaves a child that waits for ever.
var supervisors = process.New(process.Options{})

// bubbled is a sandbox under a supervisor.
type bubbled struct{ *process.Process }

func (b bubbled) Kill() { b.Stop(0) }

// launch starts a shell in a bubblewrap.
func launch(ctx context.Context, l *warm.Launch) (warm.Process, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, err
	}
	return launchAs(ctx, l, program, append(append([]string{program}, bubble...), l.Argv(len(l.Std))...)...)
}

// launchAs starts something else in a shell's place.
func launchAs(ctx context.Context, l *warm.Launch, program string, args ...string) (warm.Process, error) {
	p, err := supervisors.Start(ctx, process.Command{Path: program, Args: args, Env: l.Env, Files: slices.Concat(l.Std, l.Extra)})
	if err != nil {
		return nil, err
	}
	return bubbled{p}, nil
}

// environment is what commands run under, here and there.
func environment() []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8"}
	for _, v := range shell.Environment() {
		if strings.Contains(v, "=") {
			env = append(env, v)
		}
	}
	return env
}

// newPool returns a pool of shells, which are gone when the test ends.
func newPool(tb testing.TB, o warm.Options) *warm.Pool {
	tb.Helper()
	testenv.Permitted(tb, testenv.Linux)
	testenv.NeedTool(tb, "bwrap")
	if o.Start == nil {
		o.Start = launch
	}
	o.Bash = bash
	p := warm.New(o)
	tb.Cleanup(func() {
		p.Close()
		if n := p.Shells(); n != 0 {
			tb.Errorf("%d shells are left", n)
		}
	})
	return p
}

// outcome is all that can be seen of a command.
type outcome struct {
	Exit           int
	Stdout, Stderr string
}

// String shows the beginnings of what was written.
func (o outcome) String() string {
	return fmt.Sprintf("status %d, %.200q, %.200q", o.Exit, o.Stdout, o.Stderr)
}

// oneShot runs a command in a sandbox of its own.
func oneShot(tb testing.TB, dir, command string) outcome {
	tb.Helper()
	stdout, stderr := output(tb), output(tb)
	program := testenv.NeedTool(tb, "bwrap")
	p, err := supervisors.Start(tb.Context(), process.Command{
		Path: program, Args: append(append([]string{program}, bubble...), bash, "-c", command),
		Dir: dir, Env: environment(), Files: []*os.File{nil, stdout.in, stderr.in},
	})
	if err != nil {
		tb.Fatal(err)
	}
	out := outcome{Stdout: stdout.read(), Stderr: stderr.read()}
	<-p.Gone()
	out.Exit = p.Status().Code
	return out
}

// stream is a pipe that is read to its end, as commands are given one by hosts.
type stream struct {
	in   *os.File
	text chan string
}

func output(tb testing.TB) stream {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	s := stream{w, make(chan string, 1)}
	go func() {
		defer r.Close()
		text, _ := io.ReadAll(r) // a fault shows as text that is missing
		s.text <- string(text)
	}()
	return s
}

// read returns all that was written, when nobody else can write any more.
func (s stream) read() string {
	_ = s.in.Close()
	return <-s.text
}

// warmly runs a command in a warm shell, fit or not.
func warmly(tb testing.TB, p *warm.Pool, dir, command string) (outcome, warm.Result, error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), testenv.Patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	result, err := p.RunUnfit(ctx, &warm.Request{
		Env: environment(), Dir: dir, Command: command, Stdout: &stdout, Stderr: &stderr,
	})
	return outcome{result.Exit, stdout.String(), stderr.String()}, result, err
}

// tree is a directory with something to look at.
func tree(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.txt": "one\ntwo\nthree\n", "b c.txt": "blank\n", "src/main.go": "package main\n\nfunc main() {}\n",
		"src/deep/x.json": `{"a": [1, 2, {"b": null}]}`, "empty": "", ".hidden": "h\n", "numbers": "3\n1\n2\n10\n", "bytes": "\x00\xff\xfe\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "a.txt", "src"},
		{"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first"},
	} {
		cmd := exec.CommandContext(tb.Context(), testenv.NeedTool(tb, "git"), args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

// waitFor waits until something is so.
func waitFor(tb testing.TB, what string, so func() bool) {
	tb.Helper()
	for end := time.Now().Add(testenv.Patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatal("in vain waited for: " + what)
		}
	}
}
