//go:build amd64 || arm64

// Package place runs tests again where no sandbox can be made.
package place

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/seccomp"
)

// The places.
const (
	NoUsers  = "a machine without user namespaces"
	Filtered = "a container, by its filter of system calls"
	Bare     = "a container whose filter refuses Landlock too"
)

// variable names the place, in the environment of a test program. With entered behind it, it
// says that the program is there.
const (
	variable = "TOOLQUAY_TEST_PLACE"
	entered  = variable + "_ENTERED"
)

// Here is the place that this program is in, or empty.
func Here() string { return os.Getenv(variable) }

// Inside is the environment by which a program of tests that a test starts in a sandbox knows
// that it is in such a place already.
func Inside() []string { return []string{variable + "=" + inside, entered + "=1"} }

// IsInside reports whether this is such a program.
func IsInside() bool { return Here() == inside }

const inside = "sandbox"

// Main goes to the place that [Run] started this program for. A program's TestMain calls it
// after what may start this program as something else.
func Main() {
	if Here() == "" || os.Getenv(entered) != "" {
		return
	}
	err := enter(Here())
	if err == nil {
		err = unix.Exec("/proc/self/exe", os.Args, append(os.Environ(), entered+"=1"))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Run runs tests of this program, which a pattern names, in a place as a user of that number,
// and returns what they print.
func Run(tb testing.TB, place string, user int, tests string) (string, error) {
	tb.Helper()
	dir, err := shortDir()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	cmd := exec.CommandContext(tb.Context(), "/proc/self/exe", "-test.v", "-test.run", tests)
	cmd.Env = append(os.Environ(), variable+"="+place, "TMPDIR="+dir, "CI=") // with samples
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getegid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE, unix.CAP_SETPCAP},
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// shortDir makes a directory whose path leaves room for a socket's name, which the names of tests
// do not.
func shortDir() (string, error) { return os.MkdirTemp("", "p") }

// enter makes the place of this process, which has no powers in it.
func enter(place string) error {
	if place == NoUsers {
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			return err
		}
	}
	const beyond = 64 // what any kernel has
	for c := range uintptr(beyond) {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // one that there is not
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header, none := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capset(&header, &none[0]); err != nil || place != Filtered && place != Bare {
		return err
	}
	var more []uintptr
	if place == Bare {
		more = []uintptr{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF}
	}
	return seccomp.New(seccomp.Allow,
		seccomp.Rule{Action: seccomp.Absent, Calls: more},
		seccomp.Rule{Action: seccomp.Refuse, Calls: []uintptr{unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_PTRACE}},
		seccomp.Rule{Action: seccomp.Refuse, Calls: []uintptr{unix.SYS_CLONE}, When: []seccomp.Test{{Argument: 0, Has: unix.CLONE_NEWUSER | unix.CLONE_NEWNS}}},
		seccomp.Rule{Action: seccomp.Absent, Calls: []uintptr{unix.SYS_CLONE3}},
	).Install()
}
