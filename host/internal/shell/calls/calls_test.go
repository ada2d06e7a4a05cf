//go:build linux && (amd64 || arm64)

package calls_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
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
	pid, err := new(calls.Carrier).Start(p, []uintptr{w.Fd()}, -1)
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

// A program goes on only where a bit of what a call wrote is set.
func TestExpect(t *testing.T) {
	for path, set := range map[string]bool{"/proc": true, "/proc/self": false} {
		p := &calls.Program{}
		stat := p.Bytes(make([]byte, 256))
		p.Call("looking", unix.SYS_STATX, calls.Int(unix.AT_FDCWD), p.Text(path), calls.Int(0), calls.Int(0), stat)
		p.Expect("finding a mount", stat, 9, unix.STATX_ATTR_MOUNT_ROOT>>8)
		if _, _, err := run(t, execute(p, "true")); errors.Is(err, unix.ESTALE) == set {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// While programs run in this process's memory it collects garbage, and is sent signals.
func TestSharedMemory(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	defer signal.Stop(signals)
	work.Go(func() {
		for ctx.Err() == nil {
			runtime.GC()
			_ = syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		}
	})
	var c calls.Carrier
	for i := range 200 {
		p := &calls.Program{}
		p.Below()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		pid, err := c.Start(execute(p, "exit "+strconv.Itoa(i)), []uintptr{w.Fd()}, -1)
		_, _ = r.Close(), w.Close() // nothing is written
		if err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != i {
			t.Fatalf("program %d: got %v, %v", i, status, err)
		}
	}
}

// No signal is blocked or ignored in what a program starts.
func TestSignals(t *testing.T) {
	signal.Ignore(syscall.SIGUSR2)
	defer signal.Reset(syscall.SIGUSR2)
	out, _, err := run(t, execute(&calls.Program{}, `while read -r name set; do case $name in Sig[BI]*) echo "$name$set";; esac; done < /proc/self/status`))
	if none := ":0000000000000000\n"; err != nil || out != "SigBlk"+none+"SigIgn"+none {
		t.Errorf("got %q, %v", out, err)
	}
}

// What a program with a copy of this process's memory says of that is not said of this process.
func TestCopyMemory(t *testing.T) {
	p := &calls.Program{}
	p.CopyMemory()
	p.Call("being nobody's to look into", unix.SYS_PRCTL, calls.Int(unix.PR_SET_DUMPABLE), calls.Int(0))
	if _, _, err := run(t, execute(p, "true")); err != nil {
		t.Error(err)
	}
	if now, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); now == 0 {
		t.Errorf("this process cannot be looked into: %v", err)
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
