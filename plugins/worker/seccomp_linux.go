//go:build amd64 || arm64

package worker

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/seccomp"
)

// filterKnown says that there is a filter for this system: what fails to put it
// up runs no plugin.
const filterKnown = true

// stage is how far a child has come, and with it what it may still do.
type stage int

const (
	// stageLoading is before and while a module is compiled: files may be used,
	// for the compile cache. Processes and sockets are not made any more.
	stageLoading stage = iota
	// stageRunning is when a module's code can run: nothing can be opened.
	stageRunning
)

// confine binds every thread of this process to the system calls of a stage, for
// good. A later stage adds to an earlier one.
func confine(s stage) error { return seccomp.New(seccomp.Refuse, systemCalls(s)...).Install() }

// systemCalls is what the Go runtime and a running guest need, and for
// stageLoading the file system. What is not here fails with EPERM.
func systemCalls(s stage) []seccomp.Rule {
	allow := func(calls []uintptr, when ...seccomp.Test) seccomp.Rule {
		return seccomp.Rule{Action: seccomp.Allow, Calls: calls, When: when}
	}
	rules := []seccomp.Rule{
		allow([]uintptr{
			// Messages, most of all calls; and files that are open already.
			unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_CLOSE,
			unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_FSTAT, unix.SYS_LSEEK,
			unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2,
			// Threads, and waiting.
			unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_SCHED_YIELD,
			unix.SYS_SCHED_GETAFFINITY, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
			unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
			// Signals of the runtime's own.
			unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN,
			unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
			// Memory, that of guests included.
			unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_BRK,
			// Clocks and random numbers.
			unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM,
		}),
		allow(runtimeCalls),
		// What is shared, or lies in a file without a name, is there without being
		// mapped: no limit on this process sees it. The engine then copies where it
		// would map.
		allow([]uintptr{unix.SYS_MMAP}, seccomp.Test{Argument: 3, Has: unix.MAP_PRIVATE}),
		// Threads, not processes. The flags of clone3 lie in memory, out of a filter's
		// sight.
		allow([]uintptr{unix.SYS_CLONE}, seccomp.Test{Argument: 0, Has: unix.CLONE_THREAD}),
		{Action: seccomp.Absent, Calls: []uintptr{unix.SYS_CLONE3}},
		allow([]uintptr{unix.SYS_TGKILL}, seccomp.Test{Argument: 0, Is: []uint32{uint32(os.Getpid())}}),
		allow([]uintptr{unix.SYS_FCNTL}, seccomp.Test{Argument: 1, Is: []uint32{unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL}}),
		allow([]uintptr{unix.SYS_PRCTL}, seccomp.Test{Argument: 0, Is: []uint32{unix.PR_SET_VMA}}),
	}
	if s == stageRunning {
		return rules
	}
	return append(rules,
		allow([]uintptr{
			unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_STATX, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2,
			unix.SYS_READLINKAT, unix.SYS_GETDENTS64, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT,
			unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_FCHMOD, unix.SYS_FCHMODAT,
			unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FLOCK,
			unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETCWD,
			unix.SYS_UNAME, unix.SYS_SECCOMP,
		}),
		allow(fileCalls),
		allow([]uintptr{unix.SYS_PRCTL}, seccomp.Test{Argument: 0, Is: []uint32{unix.PR_SET_NO_NEW_PRIVS}}),
	)
}

// Confinement says, for people, what this machine offers to confine a worker
// with, and whether a system call filter is among it.
func Confinement() (text string, filtered bool) {
	// A filter that is not there: the kernel says so, or that it knows the action.
	action := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return fmt.Sprintf("resource limits; plugins that need a process of their own cannot be run, for there is no system call filter (seccomp): %v", errno), false
	}
	if _, err := fenceVersion(); err != nil {
		return fmt.Sprintf("resource limits and a system call filter (seccomp); while a module is compiled or loaded, all of the user's files are in reach: %v", err), true
	}
	return "resource limits, a system call filter (seccomp), and a fence for files (Landlock)", true
}
