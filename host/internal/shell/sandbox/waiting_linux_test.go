//go:build (amd64 || arm64) && !race

package sandbox_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// waitingSandbox is a sandbox in which one waits for a specification with a namespace of its own.
func waitingSandbox(t *testing.T) (*sandbox.Sandbox, sandbox.Spec, *process.Process) {
	t.Helper()
	root := tree(t, "w/f", "t/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w", Limits: process.Limits{Processes: 1000}}
	n, err := s.NewNamespace(t.Context())
	must(t, err)
	spec.Namespace = n
	t.Cleanup(func() { _ = n.Close() }) // it may be closed
	return s, spec, waitFor(t, s, spec, plainly)[0]
}

// What waits becomes the command, in the sandbox that others would have.
func TestWaitingBecomesCommand(t *testing.T) {
	t.Parallel()
	s, spec, waits := waitingSandbox(t)
	w, err := s.Wrap(t.Context(), spec, []string{"bash", "-c", "cat f; echo x > g && cat g; ls -d /proc/[0-9]*"})
	must(t, err)
	defer func() { must(t, w.Close()) }()
	if w.In != waits {
		t.Error("it was not what waited")
	}
	if out, err := output(t, w, plainly); err != nil || out != "content of w/f\nx\n/proc/1\n/proc/2\n" {
		t.Errorf("got %s, %v", out, err)
	}
}

// What waited and was not started ends with what wrapped it, and that is safe without it.
func TestWaitingIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *sandbox.Sandbox, sandbox.Spec){
		"the session": func(t *testing.T, _ *sandbox.Sandbox, spec sandbox.Spec) {
			t.Helper()
			must(t, spec.Namespace.Close())
		},
		"the command": func(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec) {
			t.Helper()
			w, err := s.Wrap(t.Context(), spec, []string{"true"})
			must(t, err)
			must(t, w.Close())
		},
		"started anew": func(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec) {
			t.Helper()
			w, err := s.Wrap(t.Context(), spec, []string{"bash", "-c", "echo x > /usr/x; echo tried"})
			must(t, err)
			w.In = nil
			if out, err := output(t, w, plainly); err != nil || out != "bash: line 1: /usr/x: Read-only file system\ntried\n" {
				t.Errorf("got %s, %v", out, err)
			}
			must(t, w.Close())
		},
		"no copy of the mounts": func(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec) {
			t.Helper()
			spec.Namespace.Spoil()
			if _, err := s.Wrap(t.Context(), spec, []string{"true"}); err == nil {
				t.Error("there is one")
			}
			_ = spec.Namespace.Close() // some of it is closed
		},
		"other limits": func(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec) {
			t.Helper()
			other := spec
			other.Limits.Processes++
			w, err := s.Wrap(t.Context(), other, []string{"true"})
			must(t, err)
			if w.In != nil {
				t.Error("it has the limits of another one")
			}
			must(t, errors.Join(w.Close(), spec.Namespace.Close()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, spec, waits := waitingSandbox(t)
			end(t, s, spec)
			select {
			case <-waits.Gone():
			case <-time.After(testenv.Patience):
				t.Error("it waits still")
			}
		})
	}
}

// A process that waits is killed: a command is run all the same, perhaps when it is tried again.
func TestWaitingIsKilled(t *testing.T) {
	t.Parallel()
	s, spec, _ := waitingSandbox(t)
	for range 20 {
		for _, waits := range waitFor(t, s, spec, plainly) {
			_ = unix.Kill(waits.Pid(), unix.SIGKILL)
		}
		out, err := run(t, s, spec, plainly, "cat f")
		if errors.Is(sandbox.Judge(err), sandbox.ErrChanged) {
			out, err = run(t, s, spec, plainly, "cat f")
		}
		// Where it had gone on by then, the command was killed.
		if out != "content of w/f\n" && (err == nil || err.Error() != "exit status 137") {
			t.Errorf("got %q, %v", out, err)
		}
	}
}

// A hidden file is replaced when the command is wrapped and has not begun: what took its place is not
// in sight of its first instruction.
func TestReplacedBeforeItBegins(t *testing.T) {
	t.Parallel()
	s, spec, _ := waitingSandbox(t)
	spec.Hidden = []string{spec.Cwd + "/f"}
	waited := 0
	for range 20 {
		n, err := s.NewNamespace(t.Context())
		must(t, err)
		t.Cleanup(func() { must(t, n.Close()) })
		spec.Namespace = n
		waitFor(t, s, spec, plainly)
		w, err := s.Wrap(t.Context(), spec, []string{"cat", "f"})
		must(t, err)
		if w.In != nil {
			waited++
		}
		must(t, os.WriteFile(spec.Cwd+"/n", []byte("secret"), 0o600))
		must(t, os.Rename(spec.Cwd+"/n", spec.Cwd+"/f"))
		out, err := output(t, w, plainly)
		must(t, w.Close())
		if strings.Contains(out, "secret") || !errors.Is(sandbox.Judge(err), sandbox.ErrChanged) {
			t.Fatalf("got %q, %v", out, err)
		}
	}
	if waited == 0 {
		t.Error("none waited")
	}
}

// No more wait than there is room for, and nobody has to wait for that.
func TestFewWait(t *testing.T) {
	t.Parallel()
	s, spec, _ := waitingSandbox(t)
	waits := 0
	for range 2 * sandbox.MaxWaiting {
		n, err := s.NewNamespace(t.Context())
		must(t, err)
		t.Cleanup(func() { must(t, n.Close()) })
		other := spec
		other.Namespace = n
		for range 3 {
			if out, err := run(t, s, other, plainly, "cat f"); err != nil || out != "content of w/f\n" {
				t.Errorf("got %q, %v", out, err)
			}
		}
		time.Sleep(10 * time.Millisecond) // in which one begins to wait
		waits += len(s.Waiting(n))
	}
	if waits >= sandbox.MaxWaiting {
		t.Errorf("%d wait besides the first", waits)
	}
}
