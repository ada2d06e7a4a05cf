package process

import (
	"bytes"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of processor times and start times in /proc: the same on all
// systems that Go runs on.
const tick = 10 * time.Millisecond

// stat is what /proc/PID/stat says of a process.
type stat struct {
	pid, parent, session int
	state                byte
	threads              int
	cpu                  time.Duration // its own and that of children it waited for
	start                uint64        // in ticks since the machine started
	resident             int64         // in bytes
}

// dead reports whether only the entry is left, which its parent has to take.
func (s stat) dead() bool { return (s.state == 'Z' || s.state == 'X') && s.threads <= 1 }

// stopped reports whether it runs no more, but could be made to.
func (s stat) stopped() bool { return s.state == 'T' || s.state == 't' }

// readStat reads /proc/PID/stat.
func readStat(pid int) (stat, bool) {
	var buf [1024]byte
	n := readProc("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	return parseStat(pid, buf[:n])
}

// parseStat reads the fields behind the name, which may hold anything.
func parseStat(pid int, line []byte) (stat, bool) {
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 22 {
		return stat{}, false
	}
	// The manual counts from 1, and the state is the third.
	number := func(field int) int64 {
		v, _ := strconv.ParseInt(string(fields[field-3]), 10, 64)
		return v
	}
	return stat{
		pid:      pid,
		state:    fields[0][0],
		parent:   int(number(4)),
		session:  int(number(6)),
		cpu:      time.Duration(number(14)+number(15)+number(16)+number(17)) * tick,
		threads:  int(number(20)),
		start:    uint64(number(22)),
		resident: number(24) * int64(unix.Getpagesize()),
	}, true
}

// share is the memory that a process occupies, what it shares with others divided by
// their number, in bytes. It costs far more than stat.resident.
func (s stat) share() int64 {
	if fields := fieldsOf("/proc/"+strconv.Itoa(s.pid)+"/smaps_rollup", "Pss:"); len(fields) > 0 {
		kilobytes, _ := strconv.ParseInt(string(fields[0]), 10, 64)
		return kilobytes << 10
	}
	// It is gone, and occupies nothing, or does not let itself be looked into.
	now, _ := readStat(s.pid)
	return now.resident
}

// isInit reports whether a process is the first one of a PID namespace.
func isInit(pid int) bool {
	numbers := fieldsOf("/proc/"+strconv.Itoa(pid)+"/status", "NSpid:")
	return len(numbers) > 1 && string(numbers[len(numbers)-1]) == "1"
}

// fieldsOf are the fields of the line that begins with a name in a file of /proc.
func fieldsOf(path, name string) [][]byte {
	var buf [4096]byte
	n := readProc(path, buf[:])
	for line := range bytes.Lines(buf[:n]) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return bytes.Fields(rest)
		}
	}
	return nil
}

// pids calls yield with all processes there are.
func pids(yield func(int)) { numbers("/proc", yield) }

// numbers calls yield with each entry of a directory that is a number.
func numbers(dir string, yield func(int)) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	buf := make([]byte, 16<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if pid, err := strconv.Atoi(name); err == nil {
				yield(pid)
			}
		}
	}
}

// readProc reads the beginning of a file of /proc in one go, and returns how much there
// is. Nothing is 0, whatever the reason: processes come and go.
func readProc(path string, buf []byte) int {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return 0
	}
	return n
}
