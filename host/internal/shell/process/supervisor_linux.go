package process

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

// supervisor is the one object of a supervisor's process. One thread both reaps children and
// signals by number, so that no number can have become another process's.
type supervisor struct {
	below   descendants
	null    int
	from    *unix.SchedAttr // where it stood before it went first; nil where it may not
	limits  bool            // the limits of the system are set
	host    link
	carrier calls.Carrier
	command *command // nil where there is none
}

// Main makes a supervisor of the process where it was started as one; then it does not
// return. Otherwise it does nothing. Call it first thing in main, before flags are
// read or anything is started.
func Main() {
	mainCalled.Store(true)
	if !isSupervisor() {
		return
	}
	code := 0
	if err := supervise(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	// At once: the program is to do nothing here, at its exit either.
	syscall.Exit(code)
}

// supervise is the whole life of a supervisor.
func supervise() error {
	warm()
	// The system kills the first process when the thread that started it ends, so this
	// goroutine keeps its thread.
	runtime.LockOSThread()
	self := member{stat: stat{pid: os.Getpid()}, fd: -1}
	s := &supervisor{below: descendants{self, kernelLists()}}
	if err := s.prepare(); err != nil {
		return err
	}
	for {
		if err := s.wait(); err != nil {
			return err
		}
		open, err := s.host.receive()
		if open && err == nil {
			s.host.in, err = cutAll(s.host.in, s.obey)
		}
		if c := s.command; c != nil {
			gone, fault := c.tend(open && err == nil)
			if gone {
				s.command = nil
			}
			err = errors.Join(err, fault)
		}
		if !open || err != nil {
			return err
		}
	}
}

// threads is more than the runtime of a supervisor ever uses at once.
const threads = 6

// warm starts all threads that the supervisor will need. When a command has used up the
// processes of its user, the Go runtime gets no more, and would end the supervisor.
func warm() {
	runtime.GOMAXPROCS(2)
	var ready, done sync.WaitGroup
	ready.Add(threads)
	done.Add(threads)
	for range threads {
		go func() {
			defer done.Done()
			runtime.LockOSThread() // so that no other goroutine is run by it
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
		}()
	}
	done.Wait()
}

// prepare makes the process fit to adopt, and to be inherited from.
func (s *supervisor) prepare() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming a supervisor: %w", err)
	}
	// Commands' environments and arguments pass through here: let none of them read
	// others' out of this process's memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming a supervisor: %w", err)
	}
	// A signal that is handled here is at its default there, while one that was ignored
	// in the host would stay so. Nobody reads: a supervisor ends with its host, or when it
	// is killed. The Go runtime handles the other signals in any case.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, new(unix.Sigset_t), nil); err != nil {
		return fmt.Errorf("becoming a supervisor: %w", err)
	}
	closeOnExec()
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening /dev/null: %w", err)
	}
	s.null = null
	s.from = goFirst()
	return nil
}

// wait waits until the host says something, the first process ends, or it is time to
// look.
func (s *supervisor) wait() error {
	watched := []unix.PollFd{{Fd: hostSocket, Events: unix.POLLIN}}
	timeout := -1
	if s.command != nil {
		watched = append(watched, unix.PollFd{Fd: int32(s.command.fd), Events: unix.POLLIN})
		timeout = int((s.command.pause(time.Now()) + time.Millisecond - 1) / time.Millisecond)
	}
	if _, err := unix.Poll(watched, timeout); err != nil && err != unix.EINTR {
		return fmt.Errorf("waiting for the host: %w", err)
	}
	return nil
}

// obey does what one frame says.
func (s *supervisor) obey(what kind, fields *decoder) error {
	switch what {
	case kindStart:
		return s.start(fields)
	case kindGoOn:
		return s.proceed(fields)
	case kindStop:
		number, grace := fields.uint(), time.Duration(fields.int())
		if c := s.command; c != nil && c.number == number && fields.err() == nil {
			c.stop(grace)
		}
		return fields.err()
	}
	return errFrame
}

// start starts a command, or says why it could not.
func (s *supervisor) start(fields *decoder) error {
	var f startFrame
	if err := f.decode(fields); err != nil {
		return err
	}
	files, err := s.host.take(f.files, f.given, s.null)
	if err != nil || s.command != nil {
		return errors.Join(errFrame, err)
	}
	c := &command{number: f.number, fd: -1, limits: f.limits, below: s.below, host: &s.host, carrier: &s.carrier}
	err = s.setLimits(f.limits)
	if err == nil {
		back := stepAside(s.from, c.limits.Processes)
		err = c.fork(&f, files)
		back(c.first)
	}
	s.closeAll(files)
	if err != nil {
		s.host.say(failedFrame(f.number, err))
		return s.host.flush()
	}
	s.command = c
	c.looks.again(time.Now(), usage{threads: -1}, 0)
	return s.tellStarted()
}

// tellStarted says that the command runs, or waits.
func (s *supervisor) tellStarted() error {
	s.host.say(newFrame(kindStarted, s.command.number).uint(uint64(s.command.first)).frame())
	return s.host.flush()
}

// closeAll closes the descriptors that came for a command.
func (s *supervisor) closeAll(files []uintptr) {
	for _, file := range files {
		if int(file) != s.null {
			_ = unix.Close(int(file))
		}
	}
}

// fork starts the command's first process.
func (c *command) fork(f *startFrame, files []uintptr) (err error) {
	if len(f.program) > 0 {
		return c.carryOut(f.program, files)
	}
	c.first, err = syscall.ForkExec(f.path, f.args, &syscall.ProcAttr{
		Dir: f.dir, Env: f.env, Files: files,
		// Should the supervisor be killed, the first process at least is killed by the system.
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, PidFD: &c.fd},
	})
	return err
}

// failedFrame says why a command could not be started.
func failedFrame(number uint64, err error) []byte {
	errno, _ := errors.AsType[syscall.Errno](err)
	step := uint64(0)
	if fault, ok := errors.AsType[*calls.Fault](err); ok {
		step = uint64(fault.Step) + 1
	}
	return newFrame(kindFailed, number).uint(uint64(errno)).text(err.Error()).uint(step).frame()
}

// setLimits sets the limits that the system holds, once, for the supervisor and so for all
// that it starts: between a fork and a program there is no place to set them, and after
// that it may be too late. The host has a supervisor for each set of limits.
func (s *supervisor) setLimits(l Limits) error {
	if s.limits {
		return nil
	}
	bounds := map[int]uint64{unix.RLIMIT_CORE: 0}
	if l.OpenFiles > 0 {
		bounds[unix.RLIMIT_NOFILE] = l.OpenFiles
	}
	if l.FileSize > 0 {
		bounds[unix.RLIMIT_FSIZE] = l.FileSize
	}
	for resource, bound := range bounds {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("reading limit %d: %w", resource, err)
		}
		bound = min(bound, now.Max) // one that is tighter already stays
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: bound, Max: bound}); err != nil {
			return fmt.Errorf("setting limit %d: %w", resource, err)
		}
	}
	s.limits = true
	return nil
}
