//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// patient is how long what should be soon may take.
const patient = 10 * time.Second

// waitFor runs commands of a specification until a process waits for the next one. With the race
// detector none ever does.
func waitFor(tb testing.TB, s *sandbox.Sandbox, spec sandbox.Spec, env []string) []*process.Process {
	tb.Helper()
	if !s.Copies() {
		testenv.Missing(tb, "this machine lets nobody make namespaces but bubblewrap")
	}
	for began := time.Now(); calls.Waits; time.Sleep(time.Millisecond) {
		if list := s.Waiting(spec.Namespace); len(list) > 0 {
			return list
		}
		if time.Since(began) > patient {
			tb.Fatal("no process waits")
		}
		if out, err := run(tb, s, spec, env, "true"); err != nil {
			tb.Fatal(err, out)
		}
	}
	return nil
}

// waitingSandbox is a sandbox in which one waits for a specification with a namespace of its own.
func waitingSandbox(t *testing.T) (*sandbox.Sandbox, sandbox.Spec, *process.Process) {
	t.Helper()
	if !calls.Waits {
		t.Skip("programs cannot wait with the race detector: their processes share no memory")
	}
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
			case <-time.After(patient):
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
