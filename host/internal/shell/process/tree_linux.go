package process

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// tree knows the children of processes: from a look at all processes there are, or,
// where the kernel keeps lists, from those.
type tree struct {
	listed   bool // the kernel keeps lists
	children map[int][]int
}

// kernelLists says whether the kernel was built to list children.
func kernelLists() bool {
	self := strconv.Itoa(os.Getpid())
	return unix.Access("/proc/"+self+"/task/"+self+"/children", unix.R_OK) == nil
}

// lookAround is the tree as it is now.
func lookAround(listed bool) *tree {
	t := &tree{listed: listed}
	if listed {
		return t
	}
	t.children = make(map[int][]int)
	pids(func(pid int) {
		if s, ok := readStat(pid); ok {
			t.children[s.parent] = append(t.children[s.parent], pid)
		}
	})
	return t
}

// of are the children of a process.
func (t *tree) of(pid int) []int {
	if !t.listed {
		return t.children[pid]
	}
	var all []int
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	numbers(dir, func(thread int) {
		all = append(all, readChildren(dir+"/"+strconv.Itoa(thread)+"/children")...)
	})
	return all
}

// readChildren reads a kernel's list of children.
func readChildren(path string) []int {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	fields := bytes.Fields(b)
	all := make([]int, 0, len(fields))
	for _, field := range fields {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// stats are those of all processes below pid. It stops where visit says so.
func (t *tree) stats(pid int, visit func(stat) bool) bool {
	for _, child := range t.of(pid) {
		s, ok := readStat(child)
		if ok && s.parent == pid && (!visit(s) || !t.stats(child, visit)) {
			return false
		}
	}
	return true
}

// member is a process below the supervisor. While it is held, its signals reach it or
// nobody, even when it ends and its number passes to another.
type member struct {
	stat
	fd int // a descriptor of the process, or -1
}

// each visits the processes below top, which is the supervisor itself: with before parents
// come first, with after their children do; either may be nil. Those that come or change
// parents meanwhile may be missed. A process is held until all below it were visited.
func (t *tree) each(top member, before, after func(member)) {
	for _, pid := range t.of(top.pid) {
		m, ok := hold(pid, top)
		if !ok {
			continue
		}
		if before != nil {
			before(m)
		}
		t.each(m, before, after)
		if after != nil {
			after(m)
		}
		m.release()
	}
}

// hold gets hold of a child of parent, which is held.
//
// A number alone proves nothing: the process may have ended since it was seen. But what
// has the number once the descriptor is open, has it for as long as the descriptor can
// be signalled; so if that process's parent is ours, and ours is alive, it is the
// child. Children of the supervisor itself need no descriptor: only the supervisor can take a
// dead one's entry, and with it the number, away.
func hold(pid int, parent member) (member, bool) {
	own := parent.pid == os.Getpid()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		if fd = -1; !own {
			return member{}, false
		}
	}
	m := member{fd: fd}
	var ok bool
	if m.stat, ok = readStat(pid); !ok || m.parent != parent.pid || !own && !parent.exists() {
		m.release()
		return member{}, false
	}
	return m, true
}

// exists reports whether the process, dead or alive, still has its number.
func (m member) exists() bool { return unix.PidfdSendSignal(m.fd, 0, nil, 0) != unix.ESRCH }

// signal sends a signal. One that may not be sent, for the process is another user's
// now, is not sent.
func (m member) signal(s unix.Signal) {
	if m.fd >= 0 {
		_ = unix.PidfdSendSignal(m.fd, s, nil, 0)
		return
	}
	_ = unix.Kill(m.pid, s)
}

func (m member) release() {
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
	}
}
