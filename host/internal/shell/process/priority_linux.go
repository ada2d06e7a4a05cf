package process

import (
	"bytes"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Systems share the processor out by session: to a supervisor whose command has a thousand
// of them goes a thousandth of it, and it would see late what it is to end, and need
// long to. So it goes first, where it may. Where it may not, its command is at least
// kept from having that many.

// front is the place before all commands. What is started there does not inherit it.
var front = unix.SchedAttr{
	Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
}

// goFirst puts all threads of the supervisor in front, and returns where they came from.
// Only root and those whom the system lets may; the others stay there, and it is nil.
func goFirst() (from *unix.SchedAttr) {
	from, err := unix.SchedGetAttr(0, 0)
	if err != nil || unix.SchedSetAttr(0, &front, 0) != nil {
		return nil
	}
	// The runtime's collector has threads of its own, and this one waits for it at times.
	numbers("/proc/self/task", func(thread int) { _ = unix.SchedSetAttr(thread, &front, 0) })
	from.Flags |= unix.SCHED_FLAG_RESET_ON_FORK // not everybody may take that off again
	return from
}

// stepAside makes this thread one that a command may be started by: as urgent as the
// host, and not what the system makes of an urgent one's child; or else bounded. The
// command, or 0 for none, is given to what takes that back.
func stepAside(from *unix.SchedAttr, processes int) (back func(first int)) {
	if from == nil {
		return crowd(processes)
	}
	_ = unix.SchedSetAttr(0, from, 0)
	return func(int) { _ = unix.SchedSetAttr(0, &front, 0) }
}

// crowd bounds how many processes this supervisor's user has for what is started until that
// is undone: the system counts by user, all there are, and those in a user namespace
// (since 5.14) on their own as well. It exempts root, whose supervisors go first.
//
// It is far from the command's limit: the user's other processes count too, also those
// that come later, and they are not to make a command fail. It is the end of what
// multiplies faster than its supervisor gets to look.
func crowd(limit int) (undo func(first int)) {
	var now syscall.Rlimit
	others := machineThreads()
	if limit <= 0 || others == 0 || syscall.Getrlimit(unix.RLIMIT_NPROC, &now) != nil {
		return func(int) {}
	}
	bound := min(now.Cur, others+2*uint64(limit))
	if syscall.Setrlimit(unix.RLIMIT_NPROC, &syscall.Rlimit{Cur: bound, Max: now.Max}) != nil {
		return func(int) {}
	}
	return func(first int) {
		_ = syscall.Setrlimit(unix.RLIMIT_NPROC, &now)
		if first > 0 { // nor is it to lift the bound; a program of another user's still can
			_ = unix.Prlimit(first, unix.RLIMIT_NPROC, &unix.Rlimit{Cur: bound, Max: bound}, nil)
		}
	}
}

// machineThreads is how many threads there are, of all users; 0 where nobody says. They
// are counted for no more than a read, while to find those of one user takes as many
// reads as there are processes.
func machineThreads() uint64 {
	var buf [128]byte
	n := readProc("/proc/loadavg", buf[:])
	fields := bytes.Fields(buf[:n])
	if len(fields) < 4 {
		return 0
	}
	_, all, _ := bytes.Cut(fields[3], []byte{'/'})
	threads, err := strconv.ParseUint(string(all), 10, 32)
	if err != nil {
		return 0
	}
	return threads
}

// hurry puts this thread before all ordinary ones where it is allowed to, and returns
// what puts it back.
func hurry() (back func()) {
	now, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil || unix.Setpriority(unix.PRIO_PROCESS, 0, -20) != nil {
		return func() {}
	}
	// The system call returns 20 less the value.
	return func() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 20-now) }
}
