package process

import (
	"fmt"
	"maps"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// firstLook is when a command with limits is looked at, lookEvery how often in the
	// long run. Looking may take one part in lookShare of the processor's time: where there
	// is much to look at it is done less often, but never less often than lookAtLeast. How
	// long it took by the clock says nothing: it takes longest where it is most needed.
	firstLook   = 5 * time.Millisecond
	lookEvery   = 50 * time.Millisecond
	lookShare   = 20
	lookAtLeast = 500 * time.Millisecond
	// tidyEvery is how often the entries of dead orphans are taken away.
	tidyEvery = 100 * time.Millisecond
	// settleTime and emptyTime are how long what ends with a command's first process may
	// take to, at least and at most.
	settleTime = 2 * time.Millisecond
	emptyTime  = 200 * time.Millisecond
	// freezeTime bounds how long processes are waited for to stop.
	freezeTime = 500 * time.Millisecond
	// hopeless is how long none of the processes that were killed dies before the supervisor
	// gives up: they are other users', or the system does not let go of them.
	hopeless = 8 * time.Second
)

// command is what runs below a supervisor.
type command struct {
	number uint64
	first  int // the first process; its number is no other's until it is reaped
	fd     int // becomes readable when it ended; -1 afterwards, and where there is none
	ended  bool
	limits Limits
	look   time.Time     // when to look next
	every  time.Duration // how long after the last time that is

	stopping bool
	kill     time.Time // then: when grace is over

	status Status
	left   map[processID]bool // what was left behind; nil where nobody counts
}

// processID is a process and no other: the same number never starts twice in one tick.
type processID struct {
	pid   int
	start uint64
}

func (m member) id() processID { return processID{m.pid, m.start} }

func (f *startFrame) limits() Limits {
	return Limits{Processes: int(f.processes), Memory: f.memory, CPU: f.cpu}
}

// looked reports whether there is a limit that nobody but the supervisor holds.
func (c *command) looked() bool {
	return c.limits.Processes > 0 || c.limits.Memory > 0 || c.limits.CPU > 0
}

// pause is how long to wait if nothing happens.
func (c *command) pause(now time.Time) time.Duration {
	pause := tidyEvery
	if c.looked() {
		pause = min(pause, c.look.Sub(now))
	}
	if c.stopping {
		pause = min(pause, c.kill.Sub(now))
	}
	if c.fd < 0 { // the end of what is left, or of anything, has to be asked for
		pause = min(pause, 5*time.Millisecond)
	}
	return max(0, pause)
}

// lookAgain sets when to look next, now that a look took so much of the processor.
func (c *command) lookAgain(now time.Time, took time.Duration) {
	c.every = min(max(firstLook, 2*c.every), lookEvery)
	c.look = now.Add(max(c.every, min(lookShare*took, lookAtLeast)))
}

// threadTime is how long this thread has had the processor.
func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // then all looks seem short
	return time.Duration(t.Nano())
}

// stop asks all processes to end.
//
// They hear it as one: all are stopped, then told, and then woken up, children first.
// Otherwise a shell whose child ends first would go on with its next command. Those that
// changed parents meanwhile, because one could not be stopped, are looked for again; those
// that came later are what the others tidy up with.
func (k *supervisor) stop(grace time.Duration) {
	c := k.command
	kill := time.Now().Add(grace)
	if c.stopping && c.kill.Before(kill) {
		kill = c.kill
	}
	c.stopping, c.kill = true, kill
	if grace == 0 {
		return
	}
	all := make(map[processID]bool)
	k.freeze(all)
	told, woken := maps.Clone(all), all
	for again := true; again; {
		again = false
		tell := func(who map[processID]bool, s unix.Signal) func(member) {
			return func(m member) {
				if id := m.id(); who[id] {
					delete(who, id)
					m.signal(s)
					again = true
				}
			}
		}
		k.each(tell(told, unix.SIGTERM), nil)
		k.each(nil, tell(woken, unix.SIGCONT))
	}
}

// tend does what is to be done for the command; hosted says that the host is there.
func (k *supervisor) tend(hosted bool) error {
	c := k.command
	remain := k.reap()
	now := time.Now()
	var err error
	switch {
	case !remain:
	case !hosted:
		err = k.killAll()
	case c.ended && !c.stopping:
		if remain = k.settle(); remain {
			c.left = make(map[processID]bool)
			err = k.killAll()
		}
	case c.stopping && !now.Before(c.kill):
		err = k.killAll()
	case c.looked() && !now.Before(c.look):
		before := threadTime()
		if c.status.Limit = k.over(); c.status.Limit != "" {
			err = k.killAll()
			break
		}
		c.lookAgain(time.Now(), threadTime()-before)
		return k.flush()
	default:
		return k.flush()
	}
	if err != nil {
		return err
	}
	c.status.Left = len(c.left)
	k.out = append(k.out, goneFrame(c.number, c.status)...)
	k.command = nil
	return k.flush()
}

// reap takes away the entries of dead children, and reports whether there are others.
// Whatever is below the supervisor is below one of its children: without any, nothing is.
func (k *supervisor) reap() (remain bool) {
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
		k.reaped++
		c := k.command
		c.status.User += time.Duration(used.Utime.Nano())
		c.status.System += time.Duration(used.Stime.Nano())
		if pid == c.first && !c.ended {
			k.ended(status)
		}
	}
}

// ended notes the end of the first process, which its number no longer means.
func (k *supervisor) ended(status unix.WaitStatus) {
	c := k.command
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
	k.out = append(k.out, doneFrame(c.number, c.status)...)
}

// settle gives what ends together with the first process a moment to do so, such as
// the first one of a PID namespace: nobody left that behind. Where nothing else remains,
// it gets longer, for on a busy machine it may not get to run in a moment.
func (k *supervisor) settle() (remain bool) {
	began := time.Now()
	for pause := 250 * time.Microsecond; ; pause += pause / 2 {
		time.Sleep(pause)
		if !k.reap() {
			return false
		}
		if took := time.Since(began); took > settleTime && (took > emptyTime || !k.onlyEmpty()) {
			return true
		}
	}
}

// onlyEmpty reports whether nothing remains but PID namespaces with nothing in them but
// their first processes.
func (k *supervisor) onlyEmpty() bool {
	t := lookAround(k.listed)
	for _, pid := range t.of(k.self.pid) {
		if len(t.of(pid)) > 0 || !isInit(pid) {
			return false
		}
	}
	return true
}

// killAll kills all there is below the supervisor, and returns when there is nothing.
//
// All are stopped before any is killed: one that sees others die could make new ones
// in their place, one that is stopped makes none. And the supervisor goes first on the
// processor where it may: there can be thousands that want to run.
func (k *supervisor) killAll() error {
	if err := k.flush(); err != nil {
		return err
	}
	defer hurry()()
	if c := k.command; !c.ended {
		// A first process never leaves the group it leads, and until it is reaped the
		// number is no other's. This takes most bombs as a whole.
		_ = unix.Kill(-c.first, unix.SIGSTOP)
		k.killSandbox()
	}
	k.freeze(k.command.left)
	k.uncount()
	reaped, progress := k.reaped, time.Now()
	for pause := 250 * time.Microsecond; ; pause = min(2*pause, 50*time.Millisecond) {
		alive := 0
		k.each(func(m member) {
			m.signal(unix.SIGKILL)
			if !m.dead() {
				alive++
			}
		}, nil)
		time.Sleep(pause)
		remain := k.reap()
		if err := k.flush(); err != nil || !remain {
			return err
		}
		if k.reaped != reaped {
			reaped, progress = k.reaped, time.Now()
		} else if time.Since(progress) > hopeless {
			return fmt.Errorf("%d processes cannot be killed", alive)
		}
		k.freeze(nil)
	}
}

// killSandbox kills the first process of a PID namespace right below the command's own:
// the system kills with it all there is in there, and lets it make no more.
func (k *supervisor) killSandbox() {
	t := lookAround(k.listed)
	first, ok := hold(k.command.first, k.self)
	if !ok {
		return
	}
	defer first.release()
	for _, pid := range t.of(first.pid) {
		if m, ok := hold(pid, first); ok {
			if isInit(pid) {
				m.signal(unix.SIGKILL)
			}
			m.release()
		}
	}
}

// freeze stops all processes, those too that come meanwhile, and notes them in seen,
// which may be nil. Where the system takes long to stop one it is not waited for.
//
// All have to be found stopped twice: one that was stopped when it was looked at can have
// made another since the look around.
func (k *supervisor) freeze(seen map[processID]bool) {
	deadline := time.Now().Add(freezeTime)
	for calm := 0; calm < 2 && time.Now().Before(deadline); calm++ {
		running := false
		k.each(func(m member) {
			if m.dead() {
				return
			}
			if seen != nil {
				seen[m.id()] = true
			}
			if !m.stopped() {
				m.signal(unix.SIGSTOP)
				running = true
			}
		}, nil)
		if running {
			calm = -1
			time.Sleep(250 * time.Microsecond) // they must run to stop
		}
	}
}

// uncount takes those from the processes left behind that are there for others' sake:
// the first ones of PID namespaces which have something in them.
func (k *supervisor) uncount() {
	if len(k.command.left) == 0 {
		return
	}
	t := lookAround(k.listed)
	for id := range k.command.left {
		if len(t.of(id.pid)) > 0 && isInit(id.pid) {
			delete(k.command.left, id)
		}
	}
}

// each visits all processes below the supervisor.
func (k *supervisor) each(before, after func(member)) {
	lookAround(k.listed).each(k.self, before, after)
}

// over names the limit that the command is over, or nothing.
func (k *supervisor) over() string {
	c := k.command
	var threads int
	var resident int64
	var all []stat
	cpu := c.status.User + c.status.System
	lookAround(k.listed).stats(k.self.pid, func(s stat) bool {
		threads += max(1, s.threads)
		resident += s.resident
		cpu += s.cpu
		all = append(all, s)
		return c.limits.Processes == 0 || threads <= c.limits.Processes
	})
	switch l := c.limits; {
	case l.Processes > 0 && threads > l.Processes:
		return LimitProcesses
	case l.Memory > 0 && resident > l.Memory && shares(all) > l.Memory:
		return LimitMemory
	case l.CPU > 0 && cpu > l.CPU:
		return LimitCPU
	}
	return ""
}

// shares is the memory that processes occupy, what they share counted once.
func shares(all []stat) int64 {
	var sum int64
	for _, s := range all {
		sum += s.share()
	}
	return sum
}
