package process

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

const (
	// firstLook is when a command with limits is looked at, lookEvery how often in the
	// long run, and lookIdle how often one that does nothing. Looking may take one part in
	// lookShare of the processor's time: where there is much to look at it is done less
	// often, but not less often than lookAtLeast. How long it took by the clock says nothing:
	// it takes longest where it is most needed.
	firstLook   = 5 * time.Millisecond
	lookEvery   = 50 * time.Millisecond
	lookShare   = 20
	lookAtLeast = 500 * time.Millisecond
	lookIdle    = 2 * time.Second
	// tidyEvery is how often the entries of dead orphans are taken away.
	tidyEvery = lookIdle
	// settleTime and emptyTime are how long what ends with a command's first process may
	// take to, at least and at most.
	settleTime = 2 * time.Millisecond
	emptyTime  = 200 * time.Millisecond
	// hopeless is how long none of the processes that were killed dies before the supervisor
	// gives up: they are other users', or the system does not let go of them.
	hopeless = 8 * time.Second
)

// command is what runs below a supervisor.
type command struct {
	below   descendants
	host    *link
	carrier *calls.Carrier
	number  uint64
	first   int // the first process; its number is no other's until it is reaped
	fd      int // becomes readable when it ended; -1 afterwards, and where there is none
	ended   bool
	limits  Limits
	looks   looks
	kill    time.Time // when grace is over; zero where it was not told to stop

	status Status
	reaped int                // how many of its processes were
	left   map[processID]bool // what was left behind; nil where nobody counts
}

// looked reports whether there is a limit that nobody but the supervisor holds.
func (c *command) looked() bool {
	return c.limits.Processes > 0 || c.limits.Memory > 0 || c.limits.CPU > 0
}

func (c *command) stopping() bool { return !c.kill.IsZero() }

// pause is how long to wait if nothing happens.
func (c *command) pause(now time.Time) time.Duration {
	pause := tidyEvery
	if c.looked() {
		pause = min(pause, c.looks.next.Sub(now))
	}
	if c.stopping() {
		pause = min(pause, c.kill.Sub(now))
	}
	if c.fd < 0 { // the end of what is left, or of anything, has to be asked for
		pause = min(pause, 5*time.Millisecond)
	}
	return max(0, pause)
}

// looks says when a command with limits is looked at.
type looks struct {
	next  time.Time
	every time.Duration // how long after the last time that is
	last  usage         // what was seen then
}

// again sets when to look next, now that a look saw something and took so much of the
// processor.
func (l *looks) again(now time.Time, seen usage, took time.Duration) {
	longest := lookEvery
	if seen == l.last {
		longest = lookIdle
	} else {
		l.every = min(l.every, lookEvery/2)
	}
	l.last = seen
	l.every = min(max(firstLook, 2*l.every), longest)
	l.next = now.Add(max(l.every, min(lookShare*took, lookAtLeast)))
}

// threadTime is how long this thread has had the processor.
func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // then all looks seem short
	return time.Duration(t.Nano())
}

// stop asks all processes to end, and has those killed that did not when grace is over.
// Said again, it can shorten the time but not lengthen it.
func (c *command) stop(grace time.Duration) {
	if kill := time.Now().Add(grace); !c.stopping() || kill.Before(c.kill) {
		c.kill = kill
	}
	if grace > 0 {
		c.below.terminate()
	}
}

// tend does what is to be done for the command; hosted says that the host is there.
// gone says that nothing of the command is left.
func (c *command) tend(hosted bool) (gone bool, err error) {
	remain := c.reap()
	now := time.Now()
	switch {
	case !remain:
	case !hosted:
		err = c.killAll()
	case c.ended && !c.stopping():
		if c.settle() {
			c.left = make(map[processID]bool)
			err = c.killAll()
		}
	case c.stopping() && !now.Before(c.kill):
		err = c.killAll()
	case c.looked() && !now.Before(c.looks.next):
		before := threadTime()
		seen, limit := c.below.over(c.limits, c.status.User+c.status.System)
		if c.status.Limit = limit; limit != "" {
			err = c.killAll()
			break
		}
		c.looks.again(time.Now(), seen, threadTime()-before)
		return false, c.host.flush()
	default:
		return false, c.host.flush()
	}
	if err != nil {
		return false, err
	}
	c.status.Left = len(c.left)
	c.host.say(goneFrame(c.number, c.status))
	return true, c.host.flush()
}

// reap takes away the entries of dead children, and reports whether there are others.
// Whatever is below the supervisor is below one of its children: without any, nothing is.
func (c *command) reap() (remain bool) {
	for {
		var status unix.WaitStatus
		var used unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WALL, &used)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return false
		case pid == 0:
			return true
		}
		c.reaped++
		c.status.User += time.Duration(used.Utime.Nano())
		c.status.System += time.Duration(used.Stime.Nano())
		if pid == c.first && !c.ended {
			c.end(status)
		}
	}
}

// end notes the end of the first process, which its number no longer means.
func (c *command) end(status unix.WaitStatus) {
	c.ended = true
	if c.fd >= 0 {
		_ = unix.Close(c.fd)
		c.fd = -1
	}
	c.status.Code = status.ExitStatus()
	if status.Signaled() {
		c.status.Signal = status.Signal()
		c.status.Code = 128 + int(c.status.Signal)
	}
	c.host.say(doneFrame(c.number, c.status))
}

// settle gives what ends together with the first process a moment to do so, such as
// the first one of a PID namespace: nobody left that behind. Where nothing else remains,
// it gets longer, for on a busy machine it may not get to run in a moment.
func (c *command) settle() (remain bool) {
	took := time.Duration(0) // not by the clock: when this process is held up, so are others
	for pause := 250 * time.Microsecond; ; pause += pause / 2 {
		time.Sleep(pause)
		if !c.reap() {
			return false
		}
		if took += pause; took > settleTime && (took > emptyTime || !c.below.onlyEmpty()) {
			return true
		}
	}
}

// killAll kills all there is below the supervisor, and returns when there is nothing.
//
// All are stopped before any is killed: one that sees others die could make new ones
// in their place, one that is stopped makes none. And the supervisor goes first on the
// processor where it may: there can be thousands that want to run.
func (c *command) killAll() error {
	if err := c.host.flush(); err != nil {
		return err
	}
	defer hurry()()
	if !c.ended {
		// A first process never leaves the group it leads, and until it is reaped the
		// number is no other's. This takes most bombs as a whole.
		_ = unix.Kill(-c.first, unix.SIGSTOP)
		c.below.killSandbox(c.first)
	}
	c.below.freeze(c.left)
	c.below.uncount(c.left)
	reaped, progress := c.reaped, time.Now()
	for pause := 250 * time.Microsecond; ; pause = min(2*pause, 50*time.Millisecond) {
		alive := c.below.kill()
		time.Sleep(pause)
		remain := c.reap()
		if err := c.host.flush(); err != nil || !remain {
			return err
		}
		if c.reaped != reaped {
			reaped, progress = c.reaped, time.Now()
		} else if time.Since(progress) > hopeless {
			return fmt.Errorf("%d processes cannot be killed", alive)
		}
		c.below.freeze(nil)
	}
}
