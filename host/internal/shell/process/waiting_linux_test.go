//go:build (amd64 || arm64) && !race

package process_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/testenv"
)

// waiting starts a process that has done something and waits.
func waiting(t *testing.T, s *process.Supervisors) *process.Process {
	t.Helper()
	return waitingWithin(t, s, process.Limits{})
}

func waitingWithin(t *testing.T, s *process.Supervisors, limits process.Limits) *process.Process {
	t.Helper()
	p := &calls.Program{}
	p.Apart()
	p.Call("entering /usr", unix.SYS_CHDIR, p.Text("/usr"))
	p.Below()
	p.Call("setting the mask", unix.SYS_UMASK, calls.Int(0o077))
	p.Wait()
	waits, err := s.Start(t.Context(), process.Command{Program: p, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return waits
}

// A process that waits becomes a command, with the command's descriptors, directory and
// environment, and what it has done before. There is one after the other in one supervisor.
func TestWaitingBecomesCommand(t *testing.T) {
	t.Parallel()
	s := supervisors(t)
	for _, test := range []struct {
		dir, text, want string
		code            int
	}{
		{"/usr/lib", `pwd -P; umask; echo "$A"; read x <&3; echo "$x"; exit 3`, "/usr/lib\n0077\nb\nline\n", 3},
		{"", `pwd -P; ls /proc/self/fd | wc -l; kill -9 $$`, "/usr\n5\n", 128 + 9},
	} {
		waits := waiting(t, s)
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte("line\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close() }) // nothing is written
		out, status := output(t, s, process.Command{
			Path: "/bin/sh", Args: []string{"sh", "-c", test.text}, Env: []string{"PATH=/usr/bin:/bin", "A=b"}, Dir: test.dir, In: waits, Files: []*os.File{in},
		})
		if out != test.want || status.Code != test.code || status.Left != 0 || status.Err != nil {
			t.Errorf("got %q, %+v", out, status)
		}
	}
}

// A step that fails when the process goes on is named, and nothing is left.
func TestWaitingFails(t *testing.T) {
	t.Parallel()
	s := supervisors(t)
	waits := waiting(t, s)
	_, err := s.Start(t.Context(), process.Command{Path: "/none", Args: []string{"none"}, In: waits})
	failure, ok := errors.AsType[*calls.Failure](err)
	if !ok || failure.What != "starting /none" || failure.Errno != unix.ENOENT || errors.Is(err, process.ErrEnded) {
		t.Errorf("got %v", err)
	}
	isGone(t, waits)
	if out, status := output(t, s, process.Command{Path: "/bin/echo", Args: []string{"echo", "x"}}); out != "x\n" || status.Code != 0 {
		t.Errorf("afterwards: %q, %+v", out, status)
	}
}

// A process that waits can be stopped, or end by itself: then it becomes nothing.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*process.Process){
		"stopped":        func(p *process.Process) { p.Stop(0) },
		"asked to end":   func(p *process.Process) { p.Stop(time.Minute) },
		"killed outside": func(p *process.Process) { _ = unix.Kill(p.Pid(), unix.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := supervisors(t)
			for range 20 { // also where it is not noticed yet
				waits := waiting(t, s)
				end(waits)
				p, err := s.Start(t.Context(), process.Command{Path: "/bin/true", Args: []string{"true"}, In: waits})
				if err == nil { // it was faster
					isGone(t, p)
				} else if !errors.Is(err, process.ErrEnded) {
					t.Error(err)
				}
				isGone(t, waits)
			}
			_, err := s.Start(t.Context(), process.Command{Path: "/bin/true", Args: []string{"true"}, In: waitingGone(t, s)})
			if !errors.Is(err, process.ErrEnded) {
				t.Error(err)
			}
		})
	}
}

// waitingGone is one that waited and is gone.
func waitingGone(t *testing.T, s *process.Supervisors) *process.Process {
	t.Helper()
	p := waiting(t, s)
	p.Stop(0)
	isGone(t, p)
	return p
}

// isGone waits until a process is gone.
func isGone(t *testing.T, p *process.Process) {
	t.Helper()
	select {
	case <-p.Gone():
	case <-time.After(testenv.Patience):
		t.Fatal("it is not gone")
	}
}

// The processes that wait end with their supervisors.
func TestWaitingEndsWithSupervisors(t *testing.T) {
	t.Parallel()
	s := process.New(process.Options{})
	waits := waiting(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	isGone(t, waits)
	if _, err := s.Start(t.Context(), process.Command{Path: "/bin/true", Args: []string{"true"}, In: waits}); !errors.Is(err, process.ErrEnded) {
		t.Error(err)
	}
}

// A command that waited long is looked at as often as others when it begins.
func TestLimitsOfWhatWaited(t *testing.T) {
	t.Parallel()
	for _, rest := range []time.Duration{2600 * time.Millisecond, 3100 * time.Millisecond, 3600 * time.Millisecond} {
		t.Run(rest.String(), func(t *testing.T) {
			t.Parallel()
			s := supervisors(t)
			limits := process.Limits{Processes: 20}
			testenv.InTime(t, 600*time.Millisecond, func() time.Duration {
				waits := waitingWithin(t, s, limits)
				time.Sleep(rest) // in which it is looked at less and less often
				return testenv.Took(func() {
					_, status := output(t, s, process.Command{
						Path: "/bin/sh", Args: []string{"sh", "-c", "for i in $(seq 40); do sleep 60 & done; wait"}, Env: []string{"PATH=/usr/bin:/bin"},
						In: waits, Limits: limits,
					})
					if status.Limit != process.LimitProcesses {
						t.Errorf("got %+v", status)
					}
				})
			})
		})
	}
}

// TestLostIsNotEnded: a command that may have run does not fail with ErrEnded, after which its
// caller would run it a second time.
func TestLostIsNotEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range testenv.Sample(400) {
		s := process.New(process.Options{}) // of its own, to be killed
		file := filepath.Join(dir, strconv.Itoa(i))
		waits := waiting(t, s)
		supervisor := parentOf(t, waits.Pid())
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			time.Sleep(time.Duration(i%15) * 100 * time.Microsecond)
			_ = unix.Kill(supervisor, unix.SIGKILL)
		}()
		p, err := s.Start(t.Context(), process.Command{Path: "/bin/touch", Args: []string{"touch", file}, In: waits})
		<-killed
		if p != nil {
			isGone(t, p)
		}
		isGone(t, waits)
		if _, missing := os.Lstat(file); missing == nil && errors.Is(err, process.ErrEnded) {
			t.Fatalf("%v, and it ran", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Somebody has stopped what waits: that is found out, and it ends.
func TestWaitingIsStopped(t *testing.T) {
	t.Parallel()
	s := supervisors(t)
	testenv.InTime(t, 10*time.Second, func() time.Duration {
		waits := waiting(t, s)
		stopChild(t, waits)
		return testenv.Took(func() {
			_, err := s.Start(t.Context(), process.Command{Path: "/bin/true", Args: []string{"true"}, In: waits})
			if !errors.Is(err, unix.ETIMEDOUT) {
				t.Errorf("got %v", err)
			}
			isGone(t, waits)
		})
	})
}

// stopChild stops the child of a process that waits.
func stopChild(t *testing.T, waits *process.Process) {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", waits.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(child, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}
