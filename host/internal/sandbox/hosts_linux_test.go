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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/sandbox"
)

// hostVariable makes the test program run commands in sandboxes, as another host in the
// same project, until its input ends. Its value is the project and the folder for state.
const hostVariable = "TOOLQUAY_TEST_SANDBOX_HOST"

// beHost is that host. It prints what went wrong.
func beHost(setting string) error {
	root, state, _ := strings.Cut(setting, ":")
	s, report := sandbox.Find(context.Background(), sandbox.Options{State: state})
	if s == nil {
		return errors.New(report.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until it is closed
		cancel()
	}()
	fmt.Println("begun")
	var faults [2]error
	var wg sync.WaitGroup
	for i := range faults {
		wg.Go(func() {
			for n := i; ctx.Err() == nil && faults[i] == nil; n++ {
				faults[i] = watched(s, absent(root), time.Duration(n%4)*5*time.Millisecond)
			}
		})
	}
	wg.Wait()
	return errors.Join(append(faults[:], s.Close())...)
}

// watched runs a command for a while, as hosts do. It is an error that somebody took what
// its mounts lie on away.
func watched(s *sandbox.Sandbox, spec sandbox.Spec, pause time.Duration) (err error) {
	w, err := s.Wrap(context.Background(), spec, []string{"sleep", fmt.Sprint(pause.Seconds())})
	if err != nil {
		return err
	}
	lost := make(chan error, 1)
	defer func() { err = errors.Join(err, w.Close(), <-lost) }()
	var out bytes.Buffer
	cmd := exec.CommandContext(context.Background(), w.Path)
	cmd.Args, cmd.ExtraFiles, cmd.Env, cmd.Dir = w.Args, w.Files, []string{"PATH=/usr/bin:/bin"}, "/"
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := errors.Join(cmd.Start(), w.Release(context.Background(), cmd.Process.Pid)); err != nil {
		lost <- nil
		return err // what is left ends with this host
	}
	go func() {
		path, err := w.Watch(context.Background())
		if path != "" {
			err = fmt.Errorf("%s was lost", path)
		}
		lost <- err
	}()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, &out)
	}
	return nil
}

// otherHost is a process that works in the same project.
type otherHost struct {
	cmd *exec.Cmd
	in  interface{ Close() error }
	out bytes.Buffer
}

// startHost returns when the host is about to run its first command.
func startHost(t *testing.T, root, state string) *otherHost {
	t.Helper()
	h := &otherHost{cmd: exec.CommandContext(t.Context(), os.Args[0])}
	h.cmd.Env = append(os.Environ(), hostVariable+"="+root+":"+state)
	in, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.in, h.cmd.Stderr = in, &h.out
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h.cmd.WaitDelay = time.Second
	begun, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := begun.Read(make([]byte, 1)); err != nil {
		t.Fatal(err, h.cmd.Wait(), &h.out)
	}
	return h
}

// kill ends it at once, and then what it ran: a bubblewrap that is killed while it makes a
// sandbox leaves a child that waits for ever.
func (h *otherHost) kill(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL) // a group of this test's own, not waited for yet
	_ = h.cmd.Wait()                                      // it was killed
}

// end lets it come to its end.
func (h *otherHost) end(t *testing.T) {
	t.Helper()
	if err := errors.Join(h.in.Close(), h.cmd.Wait()); err != nil {
		t.Errorf("%v: %s", err, &h.out)
	}
}

// Hosts that work in the same project at the same time leave each other's commands what
// these need, also when one of them is killed, and together they leave nothing behind.
func TestPlaceholdersOfHosts(t *testing.T) {
	t.Parallel()
	for name, states := range map[string][3]string{
		"one state":    {"state", "state", "state"},
		"three states": {"state", "state-2", "state-3"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, "w/f")
			find(t, sandbox.Options{State: root + "/" + states[0]}) // where there is no sandbox nothing is tested
			var hosts [3]*otherHost
			for i, state := range states {
				hosts[i] = startHost(t, root, root+"/"+state)
			}
			time.Sleep(150 * time.Millisecond)
			hosts[2].kill(t)
			late := startHost(t, root, root+"/"+states[2])
			time.Sleep(150 * time.Millisecond)
			for _, h := range []*otherHost{hosts[0], late, hosts[1]} {
				h.end(t)
			}
			find(t, sandbox.Options{State: root + "/" + states[2]}) // who comes next finds the dead
			noLeftovers(t, root+"/w")
			if exists(root+"/w/.bashrc") || exists(root+"/w/.vscode") {
				t.Error("placeholders are left")
			}
			if left, err := filepath.Glob(root + "/state*/journals/*"); err != nil || len(left) > 0 {
				t.Errorf("journals are left: %v, %v", left, err)
			}
		})
	}
}
