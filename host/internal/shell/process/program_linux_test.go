//go:build amd64 || arm64

package process_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/testenv"
)

// A command's program is carried out before what is at the path is started, and a step that fails
// is named.
func TestProgram(t *testing.T) {
	s := supervisors(t)
	p := &calls.Program{}
	p.Call("entering /usr", unix.SYS_CHDIR, p.Text("/usr"))
	if out, status := output(t, s, process.Command{Path: "/bin/pwd", Args: []string{"pwd", "-P"}, Program: p}); out != "/usr\n" || status.Code != 0 {
		t.Errorf("got %q, %+v", out, status)
	}
	p = &calls.Program{}
	p.Call("entering /none", unix.SYS_CHDIR, p.Text("/none"))
	_, err := s.Start(t.Context(), process.Command{Path: "/bin/true", Args: []string{"true"}, Program: p})
	failure, ok := errors.AsType[*calls.Failure](err)
	if !ok || failure.What != "entering /none" || failure.Errno != unix.ENOENT {
		t.Errorf("got %v", err)
	}
}

// A command that is started by a program may use all processors that this process may use.
func TestProgramUsesAllProcessors(t *testing.T) {
	const name = "Cpus_allowed_list:"
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	s := supervisors(t)
	for range 2 {
		p := &calls.Program{}
		p.Below()
		out, status := output(t, s, process.Command{Path: "/bin/grep", Args: []string{"grep", name, "/proc/self/status"}, Program: p})
		if status.Code != 0 || !strings.Contains(string(own), out) {
			t.Errorf("got %q, %+v", out, status)
		}
	}
}

// A start that hangs, as on a file system that does not answer, ends with its host.
func TestHungStartEndsWithItsHost(t *testing.T) {
	p := &calls.Program{}
	p.Call("hanging", unix.SYS_PPOLL, calls.Int(0), calls.Int(0), calls.Int(0), calls.Int(0))
	testenv.InTime(t, 3*time.Second, func() time.Duration {
		s := process.New(process.Options{})
		started := make(chan error, 1)
		go func() {
			_, err := s.Start(t.Context(), process.Command{Program: p})
			started <- err
		}()
		time.Sleep(200 * time.Millisecond) // it hangs by then
		took := testenv.Took(func() {
			// It kills after seconds what does not end by itself, which is late, and says so.
			if err := s.Close(); err != nil {
				t.Log(err)
			}
		})
		if err := <-started; err == nil {
			t.Error("it started")
		}
		return took
	})
}
