package host_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestMoveToBackgroundIsOfASession moves the command of the session that is asked, where
// another one has a call of the same id.
func TestMoveToBackgroundIsOfASession(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	var dirs [2]string
	var sessions [2]*host.Session
	var heard [2]*heard
	for i := range sessions {
		dirs[i] = t.TempDir()
		sessions[i] = session(t, h.Host, host.SessionOptions{Cwd: dirs[i]})
		st := sessions[i].Stream(t.Context())
		heard[i] = listen(t, st.Events())
		must(t, st.Add(bash("1", "touch begun; until [ -e over ]; do sleep 0.01; done; echo done")))
		st.Close()
		appears(t, filepath.Join(dirs[i], "begun"))
	}
	soon(t, "the command", func() bool { return sessions[0].MoveToBackground("1") })
	taskOf(t, resultsOf(heard[0].all())["1"])
	if list := sessions[1].Tasks(); len(list) != 0 {
		t.Errorf("the other session has %+v", list)
	}
	must(t, os.WriteFile(filepath.Join(dirs[1], "over"), nil, 0o600))
	other := resultsOf(heard[1].all())["1"]
	if got := other.Text(); strings.TrimSpace(got) != "done" {
		t.Errorf("the other call got %q", got)
	}
}

// TestSandboxIsLookedForAgain confines commands as soon as a sandbox is found that could
// not be before, and lets those go on that began without.
func TestSandboxIsLookedForAgain(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) {
		o.Shell.Sandbox.Mode = sandbox.WhenAvailable
		o.Shell.Sandbox.State = filepath.Join(o.Paths.Home, "state/file/below") // where nothing can be made, yet
	})
	file := filepath.Join(h.home, "state/file")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must(t, os.WriteFile(file, nil, 0o600))
	s := session(t, h.Host, host.SessionOptions{})
	outside := filepath.Join(h.home, "outside")
	touch := func() bool {
		told(t, s, "touch "+outside)
		_, err := os.Stat(outside)
		_ = os.Remove(outside) // it may not be there
		return err == nil
	}
	if !touch() {
		t.Error("it was confined by nothing")
	}
	id := background(t, s, "echo begun; sleep 1000")
	host.LookAgain(h.Host)
	if !touch() {
		t.Error("it was confined by nothing, the second time")
	}
	must(t, os.Remove(file))
	if !touch() {
		t.Error("a sandbox was looked for too soon")
	}
	host.LookAgain(h.Host)
	if touch() {
		t.Error("it was not confined, though it could be")
	}
	if n := strings.Count(h.log.String(), "no command is confined"); n != 2 || !strings.Contains(h.log.String(), "commands are confined from now on") {
		t.Errorf("the log has %s", h.log)
	}
	if info, err := s.StopTask(t.Context(), id); err != nil || info.State != abi.TaskKilled {
		t.Errorf("what began before is %+v, %v", info, err)
	}
}

// TestRemovedDirectory has a session whose directory a command removed come back to the
// nearest one above, and say so.
func TestRemovedDirectory(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"sub/deep/a": "a", "b": "b"})
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	told(t, s, "cd sub/deep")
	must(t, os.RemoveAll(filepath.Join(dir, "sub")))
	got := told(t, s, "cat b")
	if !strings.HasPrefix(got, "b") || !strings.Contains(got, "sub/deep is gone") || s.Cwd() != dir {
		t.Errorf("got %q in %s", got, s.Cwd())
	}
	if got := told(t, s, "cat b"); got != "b" {
		t.Errorf("then %q", got)
	}
	must(t, os.RemoveAll(dir))
	if got := told(t, s, "touch c"); !strings.Contains(got, "is gone") || s.Cwd() != dir {
		t.Errorf("with nothing left %q in %s", got, s.Cwd())
	}
}

// TestScratchIsClosedTwice closes a session again, as a host does that closes with it.
func TestScratchIsClosedTwice(t *testing.T) {
	h := open(t, host.Options{Builtins: true, Permissions: host.PermissionOptions{Rules: rules("", "", "Bash")}, Shell: &host.Shell{Sandbox: host.SandboxOptions{Mode: sandbox.Off}}})
	s := session(t, h, host.SessionOptions{Cwd: t.TempDir()})
	told(t, s, "true")
	for range 2 {
		must(t, s.Close(t.Context()))
	}
}

// sweptVariable has a test process be a host that is killed while it has a session.
const sweptVariable = "TOOLQUAY_TEST_SWEPT"

// TestScratchIsSwept removes what a host left that was killed, when the next one runs a
// command, and nothing of one that lives, nor of what only looks like it.
func TestScratchIsSwept(t *testing.T) {
	testenv.NeedTool(t, "bwrap")
	if os.Getenv(sweptVariable) != "" {
		h := open(t, host.Options{Builtins: true, Permissions: host.PermissionOptions{Rules: rules("", "", "Bash")}, Shell: &host.Shell{Sandbox: host.SandboxOptions{Mode: sandbox.Off}}})
		s := session(t, h, host.SessionOptions{Cwd: t.TempDir()})
		told(t, s, "touch $TMPDIR/a; echo > begun; sleep 1000")
		return
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	scratches := func() (dirs []string) {
		found, err := filepath.Glob(filepath.Join(temp, "toolquay-*", "lock"))
		must(t, err)
		for _, lock := range found {
			dirs = append(dirs, filepath.Dir(lock))
		}
		return dirs
	}
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), sweptVariable+"=1")
	must(t, cmd.Start())
	t.Cleanup(func() { _, _ = cmd.Process.Wait() })
	soon(t, "the other host's session", func() bool { return len(scratches()) == 1 })
	dead := scratches()[0]
	foreign := filepath.Join(temp, "toolquay-of-somebody")
	must(t, os.Mkdir(foreign, 0o700))
	run := func() *host.Host {
		h := open(t, host.Options{Builtins: true, Permissions: host.PermissionOptions{Rules: rules("", "", "Bash")}, Shell: &host.Shell{Sandbox: host.SandboxOptions{Mode: sandbox.Off}}})
		told(t, session(t, h, host.SessionOptions{}), "true")
		return h
	}
	run()
	must(t, cmd.Process.Kill())
	_, _ = cmd.Process.Wait()

	must(t, run().Close(context.Background()))
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("what was left is there still: %v", err)
	}
	// Others come and go: a directory has its lock before it is known whose it is.
	soon(t, "one of the host that lives", func() bool { return len(scratches()) == 1 })
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("what is not ours was swept: %v", err)
	}
}
