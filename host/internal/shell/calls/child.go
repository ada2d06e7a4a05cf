//go:build linux && (amd64 || arm64)

package calls

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine is a program as a child carries it out. What runs in the child uses no stack but
// what it has, allocates nothing, and is not looked at by the race detector.
type machine struct {
	steps   []order
	results []uintptr
	blocks  [][]byte // what the steps point to
	report  int
	message [2]int64
	status  int32
}

// order is a step whose arguments are values, or for each bit of results the number of the
// step that had the value.
type order struct {
	kind    kind
	results uint8
	number  uintptr
	args    [6]uintptr
}

// apart in a report's first half says that the second is the process that the program
// went on in. Otherwise they are a step and its error.
const apart = -1

// failed is the exit status of a child that could not carry out its program.
const failed = 127

// What package syscall calls around a fork: it keeps signals, and growing stacks, away from
// the child, which has signal handlers of this program's until they are reset.
//
//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// fork starts the child.
//
//go:noinline
//go:norace
//go:nocheckptr
func (m *machine) fork() (pid int, errno syscall.Errno) {
	syscall.ForkLock.Lock()
	beforeFork()
	r, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && r == 0 {
		m.run()
	}
	afterFork()
	syscall.ForkLock.Unlock()
	return int(r), errno
}

// run is the whole life of the child. It does not return.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (m *machine) run() {
	afterForkInChild()
	for i := range m.steps {
		s := &m.steps[i]
		for j := range s.args {
			if s.results>>j&1 != 0 {
				s.args[j] = m.results[s.args[j]]
			}
		}
		var errno syscall.Errno
		switch s.kind {
		case makeCall, tryCall:
			m.results[i], _, errno = syscall.RawSyscall6(s.number, s.args[0], s.args[1], s.args[2], s.args[3], s.args[4], s.args[5])
			if s.kind == tryCall {
				errno = 0
			}
		case putResult:
			*(*int32)(unsafe.Pointer(&m.blocks[s.args[0]][s.number])) = int32(s.args[1])
		case goApart:
			var pid uintptr
			pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|unix.CLONE_PARENT, 0, 0, 0, 0, 0)
			if errno == 0 && pid != 0 {
				m.tell(apart, int64(pid))
				exit(0)
			}
		case goBelow:
			var pid uintptr
			pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			if errno == 0 && pid != 0 {
				m.tend(pid)
			}
		}
		if errno != 0 {
			m.tell(int64(i), int64(errno))
			exit(failed)
		}
	}
	exit(0)
}

// tell reports two numbers.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (m *machine) tell(step, value int64) {
	m.message[0], m.message[1] = step, value
	_, _, _ = syscall.RawSyscall6(unix.SYS_WRITE, uintptr(m.report), uintptr(unsafe.Pointer(&m.message)), 16, 0, 0, 0)
}

// tend takes the entries of dead children until the one that the program goes on in is
// among them.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (m *machine) tend(child uintptr) {
	// What is still open here would not end with what has it, such as what is reported to.
	if _, _, errno := syscall.RawSyscall6(unix.SYS_CLOSE_RANGE, 0, 1<<31-1, 0, 0, 0, 0); errno != 0 {
		exit(failed)
	}
	for {
		pid, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&m.status)), unix.WALL, 0, 0, 0)
		if errno != 0 && errno != unix.EINTR {
			exit(failed)
		}
		if errno != 0 || pid != child {
			continue
		}
		if signal := m.status & 0x7f; signal != 0 {
			exit(128 + uintptr(signal))
		}
		exit(uintptr(m.status >> 8 & 0xff))
	}
}

// exit ends the process.
//
//go:nosplit
//go:norace
//go:nocheckptr
func exit(code uintptr) {
	for {
		_, _, _ = syscall.RawSyscall6(unix.SYS_EXIT_GROUP, code, 0, 0, 0, 0, 0)
	}
}
