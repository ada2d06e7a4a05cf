//go:build linux && (amd64 || arm64)

package calls

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine is a program as its processes carry it out. They have stacks of their own and, as a
// rule, this program's memory: copying that takes longer than most programs. So what runs in
// them allocates nothing, calls nothing of the runtime's, writes no pointers, and is not looked
// at by the race detector.
type machine struct {
	steps   []order
	results []uintptr
	blocks  [][]byte // what the steps point to
	report  int
	// memory is the flag of clone by which a process shares this one's memory, or 0.
	memory uintptr
	stacks [3]uintptr // the ends of the stacks of the first process, the one apart, and the one below
	// wake is the end of a socket at which a process waits, wakes the other one, and late the
	// block in which the message's descriptors come.
	waits       bool
	wake, wakes int
	late        uintptr
	// leaves says that a process is left for one apart.
	leaves bool
}

// order is a step whose arguments are values, or for each bit of results the number of the
// step that had the value.
type order struct {
	kind    kind
	results uint8
	number  uintptr
	args    [6]uintptr
}

// apart in a report's first half says that the second is the process that the program went on in,
// waiting that it waits, and awake that it goes on. Otherwise they are a step and its error.
const (
	apart   = -1
	waiting = -2
	awake   = -3
)

// failed is the exit status of a child that could not carry out its program.
const failed = 127

// signals is how many there are.
const signals = 64

// spawn makes a process that runs a program from a step on, on a stack of its own. It returns
// the process's number, or the negative number of an error.
//
//go:noescape
func spawn(flags, stack uintptr, m *machine, from int) int

// fork starts the first process. Until that has no handlers of this program's any more, none may
// run in it.
//
//go:nosplit
//go:norace
func (m *machine) fork() (pid int, errno syscall.Errno) {
	all, was := ^uint64(0), uint64(0)
	_, _, errno = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&was)), 8, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	pid = spawn(uintptr(unix.SIGCHLD)|m.memory, m.stacks[0], m, 0)
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&was)), 0, 8, 0, 0)
	if pid < 0 {
		return 0, syscall.Errno(-pid)
	}
	return pid, 0
}

var _ = run // assembly alone calls it

// run is the life of a process, called by spawn. It does not return.
//
//go:nosplit
//go:norace
//go:nocheckptr
func run(m *machine, from int) {
	if from == 0 {
		resetSignals()
	}
	for i := from; i < len(m.steps); i++ {
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
		case expectBit:
			if uintptr(m.blocks[s.args[0]][s.number])&s.args[1] == 0 {
				errno = unix.ESTALE
			}
		case refuseBits:
			if uintptr(m.blocks[s.args[0]][s.number])&s.args[1] != 0 {
				errno = unix.ESTALE
			}
		case goOn:
			// With a copy of the other end it would not notice that nobody is left there.
			_, _, _ = syscall.RawSyscall6(unix.SYS_CLOSE, uintptr(m.wakes), 0, 0, 0, 0, 0)
			m.tell(waiting, 0)
			errno = m.wait(m.blocks[s.args[0]])
			m.tell(awake, 0)
		case takeFile:
			m.results[i] = uintptr(*(*int32)(unsafe.Pointer(&m.blocks[m.late][s.number])))
		case goApart:
			pid := spawn(uintptr(unix.SIGCHLD)|unix.CLONE_PARENT|m.memory, m.stacks[1], m, i+1)
			if pid > 0 {
				m.tell(apart, int64(pid))
				exit(0)
			}
			errno = syscall.Errno(-pid)
		case goBelow:
			pid := spawn(uintptr(unix.SIGCHLD)|m.memory, m.stacks[2], m, i+1)
			if pid > 0 {
				tend(pid)
			}
			errno = syscall.Errno(-pid)
		}
		if errno != 0 {
			m.tell(int64(i), int64(errno))
			exit(failed)
		}
	}
	exit(0)
}

// resetSignals has no signal handled, ignored or blocked.
//
//go:nosplit
//go:norace
func resetSignals() {
	var action [4]uint64 // struct sigaction: the default handler, and no more
	for s := uintptr(1); s <= signals; s++ {
		// Two of them are always at their default, which is an error.
		_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	}
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
}

// tell reports two numbers.
//
//go:nosplit
//go:norace
func (m *machine) tell(step, value int64) {
	message := [2]int64{step, value}
	_, _, _ = syscall.RawSyscall6(unix.SYS_WRITE, uintptr(m.report), uintptr(unsafe.Pointer(&message)), unsafe.Sizeof(message), 0, 0, 0)
}

// wait waits for a message. By then there are more steps.
//
//go:nosplit
//go:norace
func (m *machine) wait(message []byte) syscall.Errno {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVMSG, uintptr(m.wake), uintptr(unsafe.Pointer(&message[0])), unix.MSG_CMSG_CLOEXEC, 0, 0, 0)
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return errno
		case n == 0: // who was to send it is gone
			exit(failed)
		case *(*int32)(unsafe.Pointer(&message[messageFlags]))&unix.MSG_CTRUNC != 0:
			return unix.EMFILE
		default:
			return 0
		}
	}
}

// tend takes the entries of dead children until the one that the program goes on in is
// among them. It uses its stack alone: what the program was made of is gone meanwhile.
//
//go:nosplit
//go:norace
func tend(child int) {
	// What is still open here would not end with what has it, such as what is reported to.
	if _, _, errno := syscall.RawSyscall6(unix.SYS_CLOSE_RANGE, 0, 1<<31-1, 0, 0, 0, 0); errno != 0 {
		exit(failed)
	}
	for {
		var status int32
		pid, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), unix.WALL, 0, 0, 0)
		if errno != 0 && errno != unix.EINTR {
			exit(failed)
		}
		if errno != 0 || int(pid) != child {
			continue
		}
		if signal := status & 0x7f; signal != 0 {
			exit(128 + uintptr(signal))
		}
		exit(uintptr(status >> 8 & 0xff))
	}
}

// exit ends the process.
//
//go:nosplit
//go:norace
func exit(code uintptr) {
	for {
		_, _, _ = syscall.RawSyscall6(unix.SYS_EXIT_GROUP, code, 0, 0, 0, 0, 0)
	}
}
