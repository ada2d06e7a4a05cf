//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/test/escapes"
)

// TestFakesAreRefused tries programs that take bubblewrap's place: none of them counts as
// a sandbox, whether it does nothing, runs the command, or says what bubblewrap would.
func TestFakesAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range escapes.Fakes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := sandbox.Options{State: filepath.Join(t.TempDir(), "state")}
			o.Program = escapes.Fake(t, t.TempDir(), name, false, another(t))
			ctx, cancel := context.WithTimeout(t.Context(), escapes.FakesHang())
			defer cancel()
			s, report := sandbox.Find(ctx, o)
			if s != nil {
				t.Cleanup(func() { _ = s.Close() }) // it was only tried
			}
			if s != nil && s.Confines() || report.Available || len(report.Reasons) == 0 {
				t.Errorf("it counts as a sandbox: %v", report)
			}
		})
	}
}

// TestSlyFakes: a command fails that was given to a program which works only as long as
// it is tried.
func TestSlyFakes(t *testing.T) {
	t.Parallel()
	for _, name := range escapes.Fakes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := findBubblewrap(t, sandbox.Options{State: filepath.Join(t.TempDir(), "state"), Program: escapes.Fake(t, t.TempDir(), name, true, another(t))})
			w, err := s.Wrap(t.Context(), sandbox.Spec{Cwd: "/"}, []string{"echo", "it ran"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }() // it has nothing to undo
			if out, err := outputIn(t, w, nil, escapes.FakesHang()); err == nil {
				t.Errorf("its result counts: %q", out)
			}
		})
	}
}

// TestReplacedProgram: what takes the program's name later is tried before it is given a
// command.
func TestReplacedProgram(t *testing.T) {
	dir := t.TempDir()
	program := escapes.Fake(t, dir, "runs.sh", true, "")
	s := findBubblewrap(t, sandbox.Options{State: filepath.Join(t.TempDir(), "state"), Program: program, Supervisors: supervisors})
	wrap := func() error {
		w, err := s.Wrap(t.Context(), sandbox.Spec{Cwd: "/"}, []string{"true"})
		if err == nil {
			err = w.Close()
		}
		return err
	}
	replace := func(sly bool) {
		t.Helper()
		if err := os.Rename(escapes.Fake(t, t.TempDir(), "runs.sh", sly, ""), program); err != nil {
			t.Fatal(err)
		}
	}
	replace(false)
	if err := wrap(); !errors.Is(err, sandbox.ErrNone) || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("it was given a command: %v", err)
	}
	replace(true)
	if err := wrap(); err != nil {
		t.Errorf("one that works is refused: %v", err)
	}
}

// another is a file with what bubblewrap said of a sandbox that runs, and is no fake's.
func another(t *testing.T) string {
	t.Helper()
	s := findBubblewrap(t, sandbox.Options{State: filepath.Join(t.TempDir(), "state")})
	w, err := s.Wrap(t.Context(), sandbox.Spec{Cwd: "/"}, []string{"sleep", "1000"})
	if err != nil {
		t.Fatal(err)
	}
	cmd := start(t, w, nil)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		_ = w.Close()
	})
	if err := w.Release(t.Context(), cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "said")
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"child-pid": %s}`, strings.TrimSpace(string(children))), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
