package worker_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

// A system without seccomp or Landlock is one whose kernel does not know the
// system call: to a worker that is started with one of these arguments, and to one
// that loads this module, it is made so.
const (
	withoutSeccomp  = "without-seccomp"
	withoutLandlock = "without-landlock"
)

func init() {
	probes[withoutSeccomp] = func(context.Context, plugins.Invocation) string { return said(forget(unix.SYS_SECCOMP)) }
	if os.Getenv("TOOLQUAY_WORKER") == "" {
		return
	}
	missing := map[string]uint32{withoutSeccomp: unix.SYS_SECCOMP, withoutLandlock: unix.SYS_LANDLOCK_CREATE_RULESET}
	for _, argument := range os.Args[1:] {
		if number, ok := missing[argument]; ok {
			if err := forget(number); err != nil {
				panic(err)
			}
		}
	}
}

func said(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// forget has the kernel not know a system call any more, in this process.
func forget(number uint32) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return raw(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
}

// without are options for workers on a system that lacks something.
func without(t *testing.T, what string) (worker.Options, *bytes.Buffer) {
	t.Helper()
	if text, filtered := worker.Confinement(); !filtered {
		testenv.Missing(t, "there is no system call filter: "+text)
	}
	var log bytes.Buffer
	o := options(t)
	o.Command = append(o.Command, what)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	return o, &log
}

// TestIsolationNeedsTheFilter: a plugin that was to be run in a process of its own
// is not run in one that is not confined.
func TestIsolationNeedsTheFilter(t *testing.T) {
	o, _ := without(t, withoutSeccomp)
	_, err := worker.New(abiProbe, o).Load(t.Context(), moduleOf(nil))
	runnertest.WantCode(t, err, abi.CodeUnsupported, "plugin fixture is to run in a process of its own", "seccomp", "not implemented")

	// Nor in one that can only be confined for the time of loading.
	_, err = worker.New(abiProbe, options(t)).Load(t.Context(), moduleOf([]byte(withoutSeccomp)))
	runnertest.WantCode(t, err, abi.CodeUnsupported, "plugin fixture is to run in a process of its own", "seccomp", "not implemented")
}

// TestCompilingDoesWithoutTheFilter, and says so once: the process bounds what
// compiling takes, and nobody has asked for more.
func TestCompilingDoesWithoutTheFilter(t *testing.T) {
	o, log := without(t, withoutSeccomp)
	c := worker.NewCompiler(o)
	defer c.Close()
	for range 2 {
		if err := c.Compile(t.Context(), cacheDir(t), moduleWith(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "without a system call filter"); n != 1 {
		t.Errorf("it was said %d times: %s", n, log)
	}
}

// TestIsolationDoesWithoutTheFence: the filter leaves a running plugin no files.
func TestIsolationDoesWithoutTheFence(t *testing.T) {
	o, log := without(t, withoutLandlock)
	in := load(t, o, abiProbe, moduleOf(nil))
	if got := ask(t, in, "open"); !strings.Contains(got, "not permitted") {
		t.Errorf("opening a file: %q", got)
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", log)
	}
}

// TestModulesShareNoCodeWhenIsolated: each loads from a directory of its own, in
// which no other module's code lies.
func TestModulesShareNoCodeWhenIsolated(t *testing.T) {
	dirs := make(map[string]bool)
	for _, module := range []string{"where", "where again"} {
		_, err := worker.New(abiProbe, options(t)).Load(t.Context(), moduleOf([]byte(module)))
		runnertest.WantCode(t, err, abi.CodeLoad)
		dirs[err.Error()] = true
	}
	if len(dirs) != 2 {
		t.Errorf("they load from %v", dirs)
	}
}

func init() {
	where := func(_ context.Context, inv plugins.Invocation) string { return inv.Cwd }
	probes["where"], probes["where again"] = where, where
}
