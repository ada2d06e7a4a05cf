//go:build linux && (amd64 || arm64)

package calls_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

// execute adds the start of a shell, whose output goes to the first file.
func execute(p *calls.Program, text string) *calls.Program {
	p.Call("standard output", unix.SYS_DUP3, calls.File(0), calls.Int(1), calls.Int(0))
	argv := p.Texts([]string{"sh", "-c", text})
	p.Call("starting sh", unix.SYS_EXECVE, p.Text("/bin/sh"), argv, p.Texts([]string{"PATH=/usr/bin:/bin", "A=b"}))
	return p
}

// run runs a program that went over the wire, and tells its output and status.
func run(t *testing.T, p *calls.Program) (string, syscall.WaitStatus, error) {
	t.Helper()
	p, err := calls.Decode(p.Encode())
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pid, err := p.Start([]uintptr{w.Fd()}, -1)
	_ = w.Close() // the child has its own
	if err != nil {
		return "", 0, err
	}
	out, _ := io.ReadAll(r)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	return string(out), status, nil
}

func TestStart(t *testing.T) {
	p := &calls.Program{}
	p.Call("a new directory", unix.SYS_CHDIR, p.Text("/usr"))
	p.Try("something that fails", unix.SYS_CHDIR, p.Text("/none"))
	out, status, err := run(t, execute(p, `pwd; echo "$A"; exit 3`))
	if err != nil || out != "/usr\nb\n" || status.ExitStatus() != 3 {
		t.Errorf("got %q, %v, %v", out, status.ExitStatus(), err)
	}
}

func TestBelow(t *testing.T) {
	for text, want := range map[string]int{"exit 7": 7, "kill -9 $$": 128 + 9, "(sleep 0 &) ; exit 0": 0} {
		p := &calls.Program{}
		p.Below()
		if _, status, err := run(t, execute(p, text)); err != nil || status.ExitStatus() != want {
			t.Errorf("%s: got %d, %v", text, status.ExitStatus(), err)
		}
	}
}

// Behind both forks the shell is the second process of a PID namespace, and its output ends
// with the first.
func TestApart(t *testing.T) {
	if os.Geteuid() != 0 {
		return // a PID namespace is root's alone here
	}
	p := &calls.Program{}
	p.Call("namespaces", unix.SYS_UNSHARE, calls.Int(unix.CLONE_NEWPID))
	p.Apart()
	p.Below()
	out, status, err := run(t, execute(p, "sleep 1000 & echo $$"))
	if err != nil || out != "2\n" || status.ExitStatus() != 0 {
		t.Errorf("got %q, %v, %v", out, status.ExitStatus(), err)
	}
}

func TestFaults(t *testing.T) {
	for where, fork := range map[string]func(p *calls.Program){
		"first": func(*calls.Program) {}, "apart": (*calls.Program).Apart, "below": (*calls.Program).Below,
	} {
		p := &calls.Program{}
		fork(p)
		p.Call("entering a directory", unix.SYS_CHDIR, p.Text("/none"))
		_, _, err := run(t, execute(p, "true"))
		fault, ok := errors.AsType[*calls.Fault](err)
		if !ok || !errors.Is(err, os.ErrNotExist) || p.What(fault.Step) != "entering a directory" {
			t.Errorf("%s: got %v", where, err)
		}
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
			t.Errorf("%s: a process is left: %d, %v", where, pid, err)
		}
	}
}

// What a call returned can be an argument, and written into a block.
func TestResults(t *testing.T) {
	p := &calls.Program{}
	fd := p.Call("a file", unix.SYS_MEMFD_CREATE, p.Text("x"), calls.Int(0))
	text := p.Bytes([]byte("....!"))
	p.Put(text, 0, p.Call("a number", unix.SYS_GETUID))
	p.Call("writing", unix.SYS_WRITE, fd, text, calls.Int(5))
	p.Call("again", unix.SYS_LSEEK, fd, calls.Int(0), calls.Int(0))
	p.Call("standard input", unix.SYS_DUP3, fd, calls.Int(0), calls.Int(0))
	out, _, err := run(t, execute(p, "tail -c 1"))
	if err != nil || !strings.HasSuffix(out, "!") {
		t.Errorf("got %q, %v", out, err)
	}
}

func FuzzDecode(f *testing.F) {
	p := &calls.Program{}
	p.Below()
	f.Add(execute(p, "true").Encode())
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = calls.Decode(b) // it does not fail otherwise
	})
}
