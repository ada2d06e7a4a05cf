//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// exchange makes a name that of a link, and the other way round, as a command in another
// sandbox may.
func exchange(t *testing.T, path, to string) {
	t.Helper()
	to, err := filepath.Rel(filepath.Dir(path), to) // bubblewrap has its own root while it mounts
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path+".link"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, path+".link", unix.RENAME_EXCHANGE); err != nil {
		t.Fatal(err)
	}
}

// What is changed between looking at paths and mounting them is found out before the
// command can do anything.
func TestPathsThatChange(t *testing.T) {
	for name, test := range map[string]struct {
		change            string // which is a link to the folder outside then
		protected, hidden []string
		temp              string
	}{
		"above what is protected":    {change: "w/x", protected: []string{"w/x/hooks"}},
		"above a missing name":       {change: "w/x", protected: []string{"w/x/missing"}},
		"what is protected itself":   {change: "w/x/hooks", protected: []string{"w/x/hooks"}},
		"above what is hidden":       {change: "w/x", hidden: []string{"w/x/.env"}},
		"what is hidden":             {change: "w/x", hidden: []string{"w/x"}},
		"a writable folder":          {change: "w"},
		"the temporary folder":       {change: "w/t", temp: "w/t"},
		"above one that is writable": {change: "w/x/hooks", temp: "w/x/hooks/deep"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, "w/x/hooks/h", "w/x/hooks/deep/f", "w/x/.env", "w/t/f", "o/hooks/h", "o/.env", "o/missing/f", "o/deep/f")
			s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
			spec := sandbox.Spec{
				Writable: under(root, "w"), Protected: under(root, test.protected...), Hidden: under(root, test.hidden...), Cwd: "/",
				Bind: []sandbox.Bind{{Source: root + "/o", Target: root + "/o"}}, // as all is that does not lie in /tmp
			}
			if test.temp != "" {
				spec.Temp = root + "/" + test.temp
			}
			w, err := s.Wrap(t.Context(), spec, []string{"bash", "-c", "echo ran; echo x > " + root + "/o/made"})
			if err != nil {
				t.Fatal(err)
			}
			exchange(t, root+"/"+test.change, root+"/o")
			out, err := output(t, w, []string{"PATH=/usr/bin:/bin"})
			// Bubblewrap finds out itself that a link leads to what is not there.
			if err == nil || bytes.Contains([]byte(out), []byte("ran")) || out == "" && !errors.Is(err, sandbox.ErrChanged) {
				t.Errorf("got %v, and it printed %q", err, out)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if left, err := filepath.Glob(root + "/o/*"); err != nil || len(left) != 4 {
				t.Errorf("outside there is %v, %v", left, err)
			}
		})
	}
}

// Nothing of the command runs before it is released, also if nobody is left to do it.
func TestHeldUntilReleased(t *testing.T) {
	root := tree(t, "w/f")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	w, err := s.Wrap(t.Context(), sandbox.Spec{Writable: under(root, "w"), Cwd: root + "/w"}, []string{"touch", "made"})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), w.Path)
	cmd.Args, cmd.ExtraFiles, cmd.Dir, cmd.SysProcAttr = w.Args, w.Files, "/", &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // a group of this test's own, not waited for yet
		_ = cmd.Wait()                                      // it was killed
	}()
	time.Sleep(100 * time.Millisecond)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	time.Sleep(100 * time.Millisecond)
	if exists(root + "/w/made") {
		t.Error("it ran")
	}
}

// A sandbox that bubblewrap cannot make ends by itself and says why.
func TestNeverMade(t *testing.T) {
	root := tree(t, "w/x/f")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	w, err := s.Wrap(t.Context(), sandbox.Spec{Writable: under(root, "w/x"), Cwd: "/"}, []string{"true"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(root + "/w/x"); err != nil {
		t.Fatal(err)
	}
	out, err := output(t, w, nil)
	if errors.Is(err, sandbox.ErrChanged) || !bytes.HasPrefix([]byte(out), []byte("bwrap: Can't find source path")) {
		t.Errorf("got %v, and it printed %q", err, out)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// Names with characters that the kernel writes otherwise are found again.
func TestOddNamesAreVerified(t *testing.T) {
	root := tree(t, "a b\tc\nd\\e#f/.env")
	dir := root + "/a b\tc\nd\\e#f"
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: []string{dir}, Hidden: []string{dir + "/.env"}, Protected: []string{dir + "/.bashrc"}, Cwd: dir}
	out, err := run(t, s, spec, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, `echo ran; cat .env`)
	if out != "ran\ncat: .env: Permission denied\n" {
		t.Errorf("got %v, and it printed %q", err, out)
	}
}
