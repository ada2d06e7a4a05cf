package process

import (
	"maps"
	"time"

	"golang.org/x/sys/unix"
)

// freezeTime bounds how long processes are waited for to stop.
const freezeTime = 500 * time.Millisecond

// descendants are the processes below a supervisor.
type descendants struct {
	top    member // the supervisor itself
	listed bool   // the kernel keeps lists of children
}

// processID is a process and no other: the same number never starts twice in one tick.
type processID struct {
	pid   int
	start uint64
}

func (m member) id() processID { return processID{m.pid, m.start} }

// each visits all of them, as [tree.each] does.
func (d descendants) each(before, after func(member)) {
	lookAround(d.listed).each(d.top, before, after)
}

// terminate asks all of them to end.
//
// They hear it as one: all are stopped, then told, and then woken up, children first.
// Otherwise a shell whose child ends first would go on with its next command. Those that
// changed parents meanwhile, because one could not be stopped, are looked for again; those
// that came later are what the others tidy up with.
func (d descendants) terminate() {
	all := make(map[processID]bool)
	d.freeze(all)
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
		d.each(tell(told, unix.SIGTERM), nil)
		d.each(nil, tell(woken, unix.SIGCONT))
	}
}

// freeze stops all processes, those too that come meanwhile, and notes them in seen,
// which may be nil. Where the system takes long to stop one it is not waited for.
//
// All have to be found stopped twice: one that was stopped when it was looked at can have
// made another since the look around.
func (d descendants) freeze(seen map[processID]bool) {
	deadline := time.Now().Add(freezeTime)
	for calm := 0; calm < 2 && time.Now().Before(deadline); calm++ {
		running := false
		d.each(func(m member) {
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

// kill kills all that are there now, and returns how many of them lived.
func (d descendants) kill() (alive int) {
	d.each(func(m member) {
		m.signal(unix.SIGKILL)
		if !m.dead() {
			alive++
		}
	}, nil)
	return alive
}

// killSandbox kills the first process of a PID namespace right below the command's first
// one: the system kills with it all there is in there, and lets it make no more.
func (d descendants) killSandbox(command int) {
	t := lookAround(d.listed)
	first, ok := hold(command, d.top)
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

// onlyEmpty reports whether nothing remains but PID namespaces with nothing in them but
// their first processes.
func (d descendants) onlyEmpty() bool {
	t := lookAround(d.listed)
	for _, pid := range t.of(d.top.pid) {
		if len(t.of(pid)) > 0 || !isInit(pid) {
			return false
		}
	}
	return true
}

// uncount takes those from the processes left behind that are there for others' sake:
// the first ones of PID namespaces which have something in them.
func (d descendants) uncount(left map[processID]bool) {
	if len(left) == 0 {
		return
	}
	t := lookAround(d.listed)
	for id := range left {
		if len(t.of(id.pid)) > 0 && isInit(id.pid) {
			delete(left, id)
		}
	}
}

// usage is what processes have of the machine.
type usage struct {
	threads  int
	resident int64
	cpu      time.Duration
}

// over tells what they use, and names the limit that they are over, or nothing. What of them
// has ended already used ended of the processor.
func (d descendants) over(l Limits, ended time.Duration) (seen usage, limit string) {
	seen.cpu = ended
	var all []stat
	lookAround(d.listed).stats(d.top.pid, func(s stat) bool {
		seen.threads += max(1, s.threads)
		seen.resident += s.resident
		seen.cpu += s.cpu
		all = append(all, s)
		return l.Processes == 0 || seen.threads <= l.Processes
	})
	switch {
	case l.Processes > 0 && seen.threads > l.Processes:
		return seen, LimitProcesses
	case l.Memory > 0 && seen.resident > l.Memory && shares(all) > l.Memory:
		return seen, LimitMemory
	case l.CPU > 0 && seen.cpu > l.CPU:
		return seen, LimitCPU
	}
	return seen, ""
}

// shares is the memory that processes occupy, what they share counted once.
func shares(all []stat) int64 {
	var sum int64
	for _, s := range all {
		sum += s.share()
	}
	return sum
}
