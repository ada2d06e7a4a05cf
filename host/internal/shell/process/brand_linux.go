package process

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// brand identifies the processes of a lost supervisor. It is a hard limit of the supervisor,
// which all its descendants inherit, whatever session, parent or environment they gave
// themselves: the limit of file locks, which the system has not enforced since 2.4. Only root
// can raise it again, and no two supervisors have the same. The soft limit is the same for
// all, so that programs, which look at that one, cannot tell one call from another.
type brand uint64

const (
	// leastBrand is still beyond any limit that somebody set for its own sake.
	leastBrand = 1 << 32
	// orphanTime bounds how long a lost supervisor's processes are hunted.
	orphanTime = 3 * time.Second
)

// burn gives a supervisor its brand. A host that has one itself, for it runs below another's
// supervisor, can only give a lesser one.
func burn(pid int) (brand, error) {
	var now unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &now); err != nil {
		return 0, fmt.Errorf("reading a supervisor's limits: %w", err)
	}
	if now.Max <= 2*leastBrand {
		return 0, fmt.Errorf("there is no room below the limit %d to tell a supervisor's processes by", now.Max)
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	b := leastBrand + binary.NativeEndian.Uint64(random[:])%(now.Max-leastBrand)
	if err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: leastBrand, Max: b}, nil); err != nil {
		return 0, fmt.Errorf("setting a supervisor's limits: %w", err)
	}
	return brand(b), nil
}

// on reports whether the process with a number has the brand.
func (b brand) on(pid int) bool {
	var now unix.Rlimit
	return b != 0 && unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &now) == nil && now.Max == uint64(b)
}

// killAll kills all that have the brand, and reports whether none is left. All are
// stopped before any is killed, as a supervisor does it.
func (b brand) killAll() bool {
	if b == 0 {
		return false
	}
	deadline := time.Now().Add(orphanTime)
	frozen := time.Now().Add(freezeTime)
	b.repeat(frozen, func(s stat) bool { return !s.stopped() && b.signal(s.pid, unix.SIGSTOP) })
	return b.repeat(deadline, func(s stat) bool { return b.signal(s.pid, unix.SIGKILL) })
}

// repeat does something with all that live and have the brand until it is twice over
// done with none: one that was not there yet when its number's turn came can have been
// made by one that was gone at its own.
func (b brand) repeat(deadline time.Time, do func(stat) (done bool)) bool {
	for calm := 0; calm < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
		calm++
		pids(func(pid int) {
			if !b.on(pid) {
				return
			}
			if s, ok := readStat(pid); ok && !s.dead() && do(s) {
				calm = 0
			}
		})
	}
	return true
}

// signal sends a signal to the process with a number if it has the brand, and reports
// whether there was one. What has the number and the brand while the descriptor is open
// is either the process that it is open for, or that one is gone and hears nothing.
func (b brand) signal(pid int, s unix.Signal) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if !b.on(pid) {
		return false
	}
	_ = unix.PidfdSendSignal(fd, s, nil, 0) // one that may not be killed is found again
	return true
}
