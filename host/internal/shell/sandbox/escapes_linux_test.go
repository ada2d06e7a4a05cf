//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/test/escapes"
	"github.com/toolquay/toolquay/internal/testenv"
)

// bubblewrapped are options by which bubblewrap makes the sandbox.
func bubblewrapped(tb testing.TB, o sandbox.Options) sandbox.Options {
	tb.Helper()
	o.Program = testenv.NeedTool(tb, "bwrap")
	return o
}

// findBubblewrap is the sandbox of a bubblewrap.
func findBubblewrap(tb testing.TB, o sandbox.Options) *sandbox.Sandbox {
	tb.Helper()
	if o.Program == "" {
		o = bubblewrapped(tb, o)
	}
	return find(tb, o)
}

// find is the sandbox of this machine.
func find(tb testing.TB, o sandbox.Options) *sandbox.Sandbox {
	tb.Helper()
	o.Supervisors = supervisors
	s, report := sandbox.Find(tb.Context(), o)
	if !report.Available {
		testenv.Missing(tb, "no sandbox: "+report.String())
	}
	return s
}

// specOf is a world's own specification.
func specOf(w *escapes.World) sandbox.Spec {
	return sandbox.Spec{
		Writable: []string{w.Work}, Hidden: w.Hidden, Protected: w.Protected, Temp: w.Temp, Cwd: w.Work,
		// The world lies in /tmp, where nothing else is in sight.
		Bind: []sandbox.Bind{{Source: w.Outside, Target: w.Outside}},
	}
}

// run runs shell text in a sandbox and tells what it printed and how it ended.
func run(tb testing.TB, s *sandbox.Sandbox, spec sandbox.Spec, env []string, text string) (string, error) {
	tb.Helper()
	wrapped, err := s.Wrap(tb.Context(), spec, []string{"bash", "-c", text})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := wrapped.Close(); err != nil {
			tb.Error(err)
		}
	}()
	return output(tb, wrapped, env)
}

// output runs what was wrapped, or nothing was done about, and tells what it printed.
func output(tb testing.TB, w *sandbox.Wrapped, env []string) (string, error) {
	tb.Helper()
	return outputIn(tb, w, env, time.Minute)
}

// outputIn is output that is given so much time.
func outputIn(tb testing.TB, w *sandbox.Wrapped, env []string, within time.Duration) (string, error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), within)
	defer cancel()
	if w.Program != nil {
		return outputOf(tb, ctx, w, env)
	}
	var out bytes.Buffer
	cmd := command(w, env)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, 3*time.Second
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	held := w.Release(ctx, cmd.Process.Pid)
	if held == nil {
		defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
		go func() { _ = w.Watch(ctx, func(sandbox.Loss) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) }()
	} else {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // Wait tells
	}
	err := cmd.Wait()
	return out.String(), errors.Join(held, err)
}

// outputOf is the output of what a supervisor runs.
func outputOf(tb testing.TB, ctx context.Context, w *sandbox.Wrapped, env []string) (string, error) {
	tb.Helper()
	file, err := os.Create(filepath.Join(tb.TempDir(), "output"))
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	p, err := supervisors.Start(ctx, process.Command{
		Path: w.Inside, Args: w.Args, Env: env, Dir: w.Dir, Program: w.Program, In: w.In, Files: []*os.File{nil, file, file},
	})
	if err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { p.Stop(0) })()
	held := w.Release(ctx, p.Pid())
	<-p.Gone()
	out, err := os.ReadFile(file.Name())
	if err != nil {
		tb.Fatal(err)
	}
	status := p.Status()
	status.Err = errors.Join(status.Err, held)
	if status.Code != 0 {
		status.Err = errors.Join(status.Err, fmt.Errorf("exit status %d", status.Code))
	}
	return string(out), status.Err
}

// start starts what was wrapped, which is held back.
func start(tb testing.TB, w *sandbox.Wrapped, env []string) *exec.Cmd {
	tb.Helper()
	cmd := command(w, env)
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return cmd
}

func command(w *sandbox.Wrapped, env []string) *exec.Cmd {
	cmd := exec.Command(w.Path)
	cmd.Args, cmd.Env, cmd.ExtraFiles, cmd.Dir = w.Args, env, w.Files, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	tryEscapes(t, own, unchanged)
}

func TestEscapesFromBubblewrap(t *testing.T) {
	t.Parallel()
	tryEscapes(t, bubblewrapped, unchanged)
}

// TestEscapesOfWaiting tries them in sandboxes that were made before the command was known.
func TestEscapesOfWaiting(t *testing.T) {
	t.Parallel()
	var waited *atomic.Int32
	t.Run("all", func(t *testing.T) {
		waited = tryEscapes(t, own, func(s *sandbox.Sandbox, w *escapes.World) { waitFor(t, s, specOf(w), w.Env) })
	})
	if calls.Waits && waited.Load() == 0 {
		t.Error("no sandbox waited for its command")
	}
}

func unchanged(*sandbox.Sandbox, *escapes.World) {}

// own are options by which this program makes the sandbox.
func own(_ testing.TB, o sandbox.Options) sandbox.Options { return o }

// Root can do without a user namespace, and has to where a container allows none.
func TestEscapesWithoutUserNamespace(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // nobody else has a sandbox then
	}
	tryEscapes(t, own, withoutUsers(t))
	tryEscapes(t, bubblewrapped, withoutUsers(t))
}

func withoutUsers(t *testing.T) func(*sandbox.Sandbox, *escapes.World) {
	t.Helper()
	return func(s *sandbox.Sandbox, _ *escapes.World) {
		if err := s.WithoutUsers(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// tryEscapes tries all, and counts those whose sandbox waited for them.
func tryEscapes(t *testing.T, by func(testing.TB, sandbox.Options) sandbox.Options, change func(*sandbox.Sandbox, *escapes.World)) (waited *atomic.Int32) {
	t.Helper()
	waited = new(atomic.Int32)
	for _, c := range escapes.Batches() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			w := escapes.New(t)
			s := find(t, by(t, sandbox.Options{State: w.State, Home: w.Home}))
			change(s, w)
			wrapped, err := s.Wrap(t.Context(), specOf(w), []string{"bash", "-c", c.Shell})
			must(t, err)
			if wrapped.In != nil {
				waited.Add(1)
			}
			out, err := output(t, wrapped, w.Env)
			must(t, wrapped.Close())
			t.Logf("%v; it printed:\n%s", err, out)
			if !strings.Contains(out, escapes.Ended) {
				t.Error("the sandbox did not start, or not all was tried")
			}
			for _, did := range w.Verify(t, out) {
				t.Error(did)
			}
			noLeftovers(t, w.Work)
		})
	}
	return waited
}

// The world must notice: what changes nothing but the world is run without a sandbox
// too.
func TestEscapesAreNoticed(t *testing.T) {
	for i, c := range escapes.Cases() {
		if !c.Loose || !testenv.Thorough() && i%10 != 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			w := escapes.New(t)
			out, _ := output(t, &sandbox.Wrapped{Path: testenv.NeedTool(t, "bash"), Args: []string{"bash", "-c", c.Shell}}, w.Env)
			if len(w.Verify(t, out)) == 0 {
				t.Errorf("it went unnoticed; it printed:\n%s", out)
			}
		})
	}
}

// noLeftovers fails if something lies beside where it was undone.
func noLeftovers(tb testing.TB, dir string) {
	tb.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*.toolquay-*"))
	if err != nil || len(left) > 0 {
		tb.Errorf("%q are left, %v", left, err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
