package worker_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

func init() {
	attempt := func(name string, try func() error) {
		probes[name] = func(context.Context, plugins.Invocation) string {
			if err := try(); err != nil {
				return err.Error()
			}
			return "it worked"
		}
	}
	attempt("open", func() error { _, err := os.Open("/etc/passwd"); return err })
	attempt("create", func() error { return os.WriteFile("/tmp/broken-out", nil, 0o600) })
	attempt("list", func() error { _, err := os.ReadDir("/"); return err })
	attempt("stat", func() error { _, err := os.Stat("/"); return err })
	attempt("remove", func() error { return os.Remove("/tmp/not-there") })
	attempt("socket", func() error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); return err })
	attempt("unix socket", func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err })
	attempt("dial", func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err })
	attempt("exec", func() error { return syscall.Exec("/bin/true", []string{"true"}, nil) })
	attempt("start", func() error { return exec.Command("/bin/true").Run() })
	attempt("fork", func() error { return raw(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0) })
	attempt("clone3", func() error { return raw(unix.SYS_CLONE3, 0, 0, 0) })
	attempt("ptrace", func() error { return raw(unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(os.Getppid()), 0) })
	attempt("kill", func() error { return unix.Kill(os.Getppid(), 0) })
	attempt("tgkill", func() error { return unix.Tgkill(os.Getppid(), os.Getppid(), 0) })
	attempt("process_vm_readv", func() error { return raw(unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid()), 0, 0) })
	attempt("prctl", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) })
	attempt("setrlimit", func() error { return raw(unix.SYS_PRLIMIT64, uintptr(os.Getppid()), unix.RLIMIT_CORE, 0) })
	attempt("bpf", func() error { return raw(unix.SYS_BPF, 0, 0, 0) })
	attempt("io_uring", func() error { return raw(unix.SYS_IO_URING_SETUP, 1, 0, 0) })
	attempt("seccomp", func() error { return raw(unix.SYS_SECCOMP, 0, 0, 0) })
	attempt("memfd", func() error { _, err := unix.MemfdCreate("broken-out", 0); return err })
	attempt("shared memory", func() error {
		_, err := unix.MmapPtr(-1, 0, nil, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
		return err
	})
	attempt("truncate", func() error { return unix.Ftruncate(0, 1<<20) })
	attempt("allocate", func() error { return unix.Fallocate(0, 0, 0, 1<<20) })
	attempt("signal on input", func() error { return raw(unix.SYS_FCNTL, 0, unix.F_SETOWN, uintptr(os.Getppid())) })

	probes["files"] = func(context.Context, plugins.Invocation) string { return inherited() }
	probes["ask much"] = func(ctx context.Context, inv plugins.Invocation) string {
		for range 10 {
			if _, err := inv.Capability(ctx, large()); err != nil {
				return err.Error()
			}
		}
		return "answered"
	}
	probes["ask too much"] = func(context.Context, plugins.Invocation) string { askTooMuch(); return "sent" }
	probes["answer and stop"] = answerAndStop
	for name, message := range broken {
		probes["break:"+name] = func(_ context.Context, inv plugins.Invocation) string {
			sendRaw(message)
			return "sent"
		}
	}
}

func raw(number, a, b, c uintptr) error {
	if _, _, errno := unix.RawSyscall(number, a, b, c); errno != 0 {
		return errno
	}
	return nil
}

// inherited lists the files that did not come from the Go runtime.
func inherited() string {
	var found []string
	for fd := range 64 {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			var s unix.Stat_t
			err := unix.Fstat(fd, &s)
			found = append(found, fmt.Sprintf("%d:%o:%v", fd, s.Mode&unix.S_IFMT, err))
		}
	}
	return strings.Join(found, " ")
}

// message encodes a message as wire.go has it, with any size in its header.
func message(kind byte, call, request uint32, size int, payload string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(size))
	b = append(b, kind, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, call)
	b = binary.LittleEndian.AppendUint32(b, request)
	return append(b, payload...)
}

// broken are messages that no worker sends. The probe's own call is number 1.
var broken = map[string][]byte{
	"garbage":               []byte(strings.Repeat("hello, host! ", 100)),
	"unknown kind":          message(200, 1, 0, 0, ""),
	"a host's kind":         message(2, 1, 0, 0, ""),
	"ready again":           message(32, 0, 0, 0, ""),
	"a call never made":     message(34, 77, 0, 0, ""),
	"answer of other kind":  message(35, 1, 0, 0, ""),
	"size beyond limits":    message(34, 1, 0, 1<<31, ""),
	"error that is none":    message(33, 1, 0, 1, "\xff"),
	"request never offered": message(36, 1, 1, 2, "{}"),
	"credit for nothing":    message(37, 1, 5, 4, "\x00\x00\x00\x01"),
	"drop of nothing":       message(38, 1, 5, 0, ""),
	"broken progress":       message(39, 1, 0, 4, "oops"),
	"log of nothing":        message(40, 0, 0, 0, ""),
	"session never ended":   message(41, 9, 0, 0, ""),
}

// sendRaw writes to whatever pipes this process has.
func sendRaw(b []byte) {
	for fd := 3; fd < 64; fd++ {
		var s unix.Stat_t
		if unix.Fstat(fd, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFIFO {
			writeAll(fd, b)
		}
	}
}

// writeAll writes to a pipe, until it is closed.
func writeAll(fd int, b []byte) {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch {
		case err == nil:
			b = b[n:]
		case errors.Is(err, unix.EAGAIN): // it is full
			time.Sleep(time.Millisecond)
		case !errors.Is(err, unix.EINTR):
			return
		}
	}
}

// TestConfinement tries in a worker what must not work there.
func TestConfinement(t *testing.T) {
	if text, whole := worker.Confinement(); !whole {
		testenv.Missing(t, "there is no system call filter: "+text)
	}
	leaked, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaked)
	in := load(t, options(t), abiProbe, moduleOf(nil))
	for _, name := range []string{
		"open", "create", "list", "stat", "remove", "socket", "unix socket", "dial", "exec", "start", "fork", "ptrace",
		"kill", "tgkill", "process_vm_readv", "prctl", "setrlimit", "bpf", "io_uring", "seccomp", "signal on input",
		"memfd", "shared memory", "truncate", "allocate",
	} {
		t.Run(name, func(t *testing.T) {
			if got := ask(t, in, name); !strings.Contains(got, "not permitted") {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := ask(t, in, "clone3"); !strings.Contains(got, "not implemented") {
		t.Errorf("clone3: %q", got)
	}
	if got := ask(t, in, "environment"); got != "TOOLQUAY_WORKER" {
		t.Errorf("the environment has %q", got)
	}
	pipe := fmt.Sprintf("%o:<nil>", unix.S_IFIFO)
	if got, want := ask(t, in, "files"), "0:"+pipe+" 1:"+pipe+" 2:"+pipe; got != want {
		t.Errorf("the worker has the files %q; want %q", got, want)
	}
}

// large is a capability request of nearly as much as one may have.
func large() abi.Request {
	return abi.Request{Name: "test.echo", Args: []byte("{}"), Parts: []abi.Part{{Type: abi.PartText, Data: make([]byte, 16<<20)}}}
}

// askTooMuch makes ten of them at once.
func askTooMuch() {
	frame, err := abi.EncodeRequest(nil, large())
	if err != nil {
		panic(err)
	}
	for id := range uint32(10) {
		sendRaw(message(36, 1, id+1, len(frame), string(frame)))
	}
}

// answerAndStop, the second call of its worker, asks for a body, fails behind its
// runner's back, and stops the process, so that nothing that comes is read any
// more.
func answerAndStop(ctx context.Context, inv plugins.Invocation) string {
	if _, err := inv.Capability(ctx, abi.Request{Name: "test.echo", Args: []byte("{}")}); err != nil {
		return err.Error()
	}
	const failed = "\x04trapso it is"
	sendRaw(message(33, 2, 0, len(failed), failed))
	return fmt.Sprint(raw(unix.SYS_TGKILL, uintptr(os.Getpid()), uintptr(unix.Gettid()), uintptr(unix.SIGSTOP)))
}

func ask(t *testing.T, in plugins.Instance, name string) string {
	t.Helper()
	result, err := in.Call(t.Context(), probing(name))
	if err != nil {
		t.Fatal(err)
	}
	return result.Text()
}

// TestBrokenMessages has a worker that is under somebody else's control. The
// call in it fails and the next one is served by another worker.
func TestBrokenMessages(t *testing.T) {
	for name := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := load(t, options(t), abiProbe, moduleOf(nil))
			_, err := in.Call(t.Context(), probing("break:"+name))
			runnertest.WantCode(t, err, abi.CodeProtocol, "plugin fixture", "was ended: it")
			if got := ask(t, in, "nothing"); got != "" {
				t.Errorf("the next call answered %q", got)
			}
		})
	}
}

// TestRequestsUnderWayAreBounded: each capability request may be large, and ten may
// come one after the other, but not be under way at once.
func TestRequestsUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	patient := func(m *plugins.Module) { m.Limits.Time = 5 * testenv.Patience } // there is much to send
	in := load(t, options(t), abiProbe, moduleOf(nil, patient))
	much := probing("ask much")
	much.Capability = func(context.Context, abi.Request) (abi.Answer, error) { return abi.Answer{OK: struct{}{}}, nil }
	if result, err := in.Call(t.Context(), much); err != nil || result.Text() != "answered" {
		t.Errorf("one after the other: %q, %v", result.Text(), err)
	}
	other := load(t, options(t), abiProbe, moduleOf(nil, patient)) // the number of its call is 1
	tooMuch := probing("ask too much")
	tooMuch.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
		<-ctx.Done()
		return abi.Answer{}, ctx.Err()
	}
	_, err := other.Call(t.Context(), tooMuch)
	runnertest.WantCode(t, err, abi.CodeProtocol, "was ended: it has capability calls of over 134217728 bytes under way")
}
