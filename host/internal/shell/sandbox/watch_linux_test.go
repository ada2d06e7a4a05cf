//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
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

// A hidden file that is replaced outside loses its mask in the sandbox: that is told at once,
// whichever way it happened, where there is something to be seen. A protected one is noted.
func TestWatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes        []change
		lost, replaced string
	}{
		"hidden, saved by an editor":     {[]change{save("w/.env")}, "w/.env", ""},
		"hidden, removed":                {[]change{remove("w/.env")}, "", ""},
		"hidden, moved":                  {[]change{move("w/.env", "w/env")}, "", ""},
		"hidden, moved and made anew":    {[]change{move("w/.env", "w/env"), save("w/.env")}, "w/.env", ""},
		"protected, saved":               {[]change{save("w/.git/config")}, "", "w/.git/config"},
		"protected, removed":             {[]change{remove("w/.git/config")}, "", ""},
		"above what is protected":        {[]change{move("w/.git", "w/git")}, "", ""},
		"above what is protected, again": {[]change{move("w/.git", "w/git"), move("w/d", "w/.git")}, "", "w/.git"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "w/.env", "w/.git/config", "w/f", "w/d/f")
			s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
			r := startIn(t, s, sandbox.Spec{
				Writable: under(root, "w"), Hidden: under(root, "w/.env"), Protected: under(root, "w/.git/config"), Cwd: root + "/w",
			}, "sleep 1000")
			lost := make(chan sandbox.Loss, 10)
			go func() { _ = r.Watch(t.Context(), func(l sandbox.Loss) { lost <- l }) }()
			// These do not matter: a file beside, and one in a folder that is in the way.
			saved(t, root+"/w/f")
			saved(t, root+"/w/.git/index")
			time.Sleep(20 * time.Millisecond)
			if len(lost) > 0 {
				t.Fatalf("%v was told too early", <-lost)
			}
			for _, change := range test.changes {
				change(t, root)
			}
			if test.lost != "" {
				select {
				case l := <-lost:
					if l.Path != root+"/"+test.lost || !l.Hidden {
						t.Errorf("%v was told", l)
					}
				case <-time.After(testenv.Patience):
					t.Error("nothing was told")
				}
			}
			eventually(t, "what was replaced", func() bool {
				_, replaced := r.Changed()
				return len(replaced) > 0 || test.replaced == ""
			})
			time.Sleep(300 * time.Millisecond) // what is moved is looked for every 250
			if len(lost) > 0 {
				t.Errorf("%v was told", <-lost)
			}
			if _, replaced := r.Changed(); strings.TrimPrefix(strings.Join(replaced, " "), root+"/") != test.replaced {
				t.Errorf("replaced %v", replaced)
			}
		})
	}
}

// What happened before anybody watched is told too, and the end of the context ends the wait.
func TestWatchBeginsAndEnds(t *testing.T) {
	root := tree(t, "w/.env")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Hidden: under(root, "w/.env"), Cwd: root + "/w"}
	r := startIn(t, s, spec, "sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.Watch(ctx, func(l sandbox.Loss) { t.Errorf("lost %v", l) }); err != nil {
		t.Error(err)
	}
	saved(t, root+"/w/.env")
	ctx, cancel = context.WithCancel(t.Context())
	if err := r.Watch(ctx, func(sandbox.Loss) { cancel() }); err != nil || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}

// Closing what a command had ends the wait.
func TestWatchClosed(t *testing.T) {
	root := tree(t, "w/.env")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Hidden: under(root, "w/.env"), Protected: usual(root + "/w"), Cwd: root + "/w"}
	r := startIn(t, s, spec, "sleep 1000")
	closed := make(chan error)
	go func() {
		time.Sleep(20 * time.Millisecond)
		closed <- r.Close()
	}()
	if err := r.Watch(t.Context(), func(l sandbox.Loss) { t.Errorf("lost %v", l) }); err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// What is lost without a watch: the reason for it. The kernel takes the mask away before
// it puts the new file in the place of the old one, so that either may be read.
func TestReplacedFilesAreInSight(t *testing.T) {
	root := tree(t, "w/.env")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
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
