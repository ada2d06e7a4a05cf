//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// running is a command in a sandbox that others change things about.
type running struct {
	*sandbox.Wrapped
	cmd *exec.Cmd
	out bytes.Buffer
}

// startIn starts a command, and releases it. It is ended with the test.
func startIn(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec, text string) *running {
	t.Helper()
	w, err := s.Wrap(t.Context(), spec, []string{"bash", "-c", text})
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Wrapped: w, cmd: exec.CommandContext(t.Context(), w.Path)}
	r.cmd.Args, r.cmd.ExtraFiles, r.cmd.Env, r.cmd.Dir = w.Args, w.Files, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, "/"
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // a group of this test's own
		_ = r.cmd.Wait()                                      // it may have been waited for
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := w.Release(t.Context(), r.cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	return r
}

// saved replaces a file as editors do.
func saved(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path+"~", []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

// change is what a program outside does below a folder.
type change func(t *testing.T, root string)

func save(path string) change {
	return func(t *testing.T, root string) {
		t.Helper()
		saved(t, filepath.Join(root, path))
	}
}

func remove(path string) change {
	return func(t *testing.T, root string) {
		t.Helper()
		must(t, os.Remove(filepath.Join(root, path)))
	}
}

func move(from, to string) change {
	return func(t *testing.T, root string) {
		t.Helper()
		must(t, os.Rename(filepath.Join(root, from), filepath.Join(root, to)))
	}
}

// A file that is replaced outside loses its mask, or its protection, in the sandbox: that
// is told at once, whichever way it happened.
func TestWatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change change
		lost   string
	}{
		"hidden, saved by an editor":    {save("w/.env"), "w/.env"},
		"hidden, removed":               {remove("w/.env"), "w/.env"},
		"hidden, moved":                 {move("w/.env", "w/env"), "w/.env"},
		"protected, saved":              {save("w/.git/config"), "w/.git/config"},
		"above what is protected":       {move("w/.git", "w/git"), "w/.git"},
		"absent, the placeholder saved": {save("w/.bashrc"), "w/.bashrc"},
		"absent, the folder removed":    {remove("w/.vscode"), "w/.vscode"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, "w/.env", "w/.git/config", "w/f")
			s := find(t, sandbox.Options{State: root + "/state"})
			spec := absent(root)
			spec.Hidden, spec.Protected = under(root, "w/.env"), append(spec.Protected, root+"/w/.git/config")
			r := startIn(t, s, spec, "sleep 60")
			lost := make(chan string, 1)
			go func() {
				path, err := r.Watch(t.Context())
				if err != nil {
					t.Error(err)
				}
				lost <- path
			}()
			// What is no matter: a file beside, and one in a folder that is in the way.
			saved(t, root+"/w/f")
			saved(t, root+"/w/.git/index")
			select {
			case path := <-lost:
				t.Fatalf("%q was told too early", path)
			case <-time.After(20 * time.Millisecond):
			}
			test.change(t, root)
			select {
			case path := <-lost:
				if path != root+"/"+test.lost {
					t.Errorf("%q was told", path)
				}
			case <-time.After(testenv.Patience):
				t.Error("nothing was told")
			}
		})
	}
}

// What happened before anybody watched is told too, and who gives up is let go.
func TestWatchBeginsAndEnds(t *testing.T) {
	root := tree(t, "w/.env")
	s := find(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Hidden: under(root, "w/.env"), Cwd: root + "/w"}
	r := startIn(t, s, spec, "sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if lost, err := r.Watch(ctx); lost != "" || err != nil {
		t.Errorf("got %q, %v", lost, err)
	}
	saved(t, root+"/w/.env")
	if lost, err := r.Watch(t.Context()); lost != root+"/w/.env" || err != nil {
		t.Errorf("got %q, %v", lost, err)
	}
}

// Closing what a command had ends the wait.
func TestWatchClosed(t *testing.T) {
	root := tree(t, "w/.env")
	s := find(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Hidden: under(root, "w/.env"), Cwd: root + "/w"}
	r := startIn(t, s, spec, "sleep 60")
	closed := make(chan error)
	go func() {
		time.Sleep(20 * time.Millisecond)
		closed <- r.Close()
	}()
	if lost, err := r.Watch(t.Context()); lost != "" || err != nil {
		t.Errorf("got %q, %v", lost, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// What is lost without a watch: the reason for it. The kernel takes the mask away before
// it puts the new file in the place of the old one, so that either may be read.
func TestReplacedFilesAreInSight(t *testing.T) {
	root := tree(t, "w/.env")
	s := find(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Hidden: under(root, "w/.env"), Cwd: root + "/w"}
	r := startIn(t, s, spec, "until cat .env 2>/dev/null; do sleep 0.01; done")
	saved(t, root+"/w/.env")
	if err := r.cmd.Wait(); err != nil || r.out.String() != "new" && r.out.String() != "content of w/.env\n" {
		t.Errorf("got %v, %q", err, r.out.String())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
