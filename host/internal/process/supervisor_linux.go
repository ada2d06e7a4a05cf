package process

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hostSocket is the supervisor's descriptor for its end of the socket to the host.
const hostSocket = 3

// supervisor is the one object of a supervisor's process. It has a single thread: whoever
// takes dead children's entries away must be the one who signals by number, so that
// none of those numbers is another's.
type supervisor struct {
	self    member
	listed  bool // the kernel keeps lists of children
	null    int
	from    *unix.SchedAttr // where it stood before it went first; nil where it may not
	limits  bool            // the limits of the system are set
	in      []byte
	files   []int // descriptors that came and belong to a frame not read yet
	out     []byte
	command *command
	reaped  int // how many processes were
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
	// What the first process has of its parent is had of this thread.
	runtime.LockOSThread()
	k := &supervisor{self: member{stat: stat{pid: os.Getpid()}, fd: -1}, listed: kernelLists()}
	if err := k.prepare(); err != nil {
		return err
	}
	for {
		if err := k.wait(); err != nil {
			return err
		}
		open, err := k.receive()
		if k.command != nil {
			err = errors.Join(err, k.tend(open && err == nil))
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
func (k *supervisor) prepare() error {
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
	k.null = null
	k.from = goFirst()
	return nil
}

// closeOnExec keeps to the supervisor what the host's process leaked into it.
func closeOnExec() {
	if unix.CloseRange(hostSocket, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	numbers("/proc/self/fd", func(fd int) {
		if fd >= hostSocket {
			unix.CloseOnExec(fd)
		}
	})
}

// wait waits until the host says something, the first process ends, or it is time to
// look.
func (k *supervisor) wait() error {
	watched := []unix.PollFd{{Fd: hostSocket, Events: unix.POLLIN}}
	timeout := -1
	if k.command != nil {
		watched = append(watched, unix.PollFd{Fd: int32(k.command.fd), Events: unix.POLLIN})
		timeout = int((k.command.pause(time.Now()) + time.Millisecond - 1) / time.Millisecond)
	}
	if _, err := unix.Poll(watched, timeout); err != nil && err != unix.EINTR {
		return fmt.Errorf("waiting for the host: %w", err)
	}
	return nil
}

// receive does what the host says. open is false when the host is gone.
func (k *supervisor) receive() (open bool, err error) {
	buf := make([]byte, 64<<10)
	rights := make([]byte, unix.CmsgSpace(4*maxFiles))
	for {
		n, r, flags, _, err := unix.Recvmsg(hostSocket, buf, rights, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return true, k.obey()
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECONNRESET): // it was killed with something unread
			n = 0
		case err != nil:
			return true, fmt.Errorf("hearing the host: %w", err)
		}
		switch {
		case n == 0:
			return false, nil
		case flags&unix.MSG_CTRUNC != 0:
			return true, errors.New("descriptors of the host were lost")
		}
		k.in = append(k.in, buf[:n]...)
		if err := k.accept(rights[:r]); err != nil {
			return true, err
		}
	}
}

// accept takes the descriptors that came with a message.
func (k *supervisor) accept(rights []byte) error {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return fmt.Errorf("descriptors of the host: %w", err)
	}
	for i := range messages {
		files, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return fmt.Errorf("descriptors of the host: %w", err)
		}
		k.files = append(k.files, files...)
	}
	return nil
}

// obey does what the frames say that are there.
func (k *supervisor) obey() error {
	for {
		what, fields, rest, err := cut(k.in)
		if err != nil || what == 0 {
			return err
		}
		k.in = rest
		switch what {
		case kindStart:
			err = k.start(fields)
		case kindStop:
			number, grace := fields.uint(), time.Duration(fields.int())
			if err = fields.err(); err == nil && k.command != nil && k.command.number == number {
				k.stop(grace)
			}
		default:
			err = errFrame
		}
		if err != nil {
			return err
		}
	}
}

// start starts a command, or says why it could not.
func (k *supervisor) start(fields *decoder) error {
	var f startFrame
	if err := f.decode(fields); err != nil {
		return err
	}
	files, err := k.take(f.files, f.given)
	if err != nil || k.command != nil {
		return errors.Join(errFrame, err)
	}
	c := &command{number: f.number, fd: -1, limits: f.limits()}
	err = k.setLimits(&f)
	if err == nil {
		back := k.stepAside(c.limits.Processes)
		c.first, err = syscall.ForkExec(f.path, f.args, &syscall.ProcAttr{
			Dir: f.dir, Env: f.env, Files: files,
			// Should the supervisor be killed, the first process at least is killed by the system.
			Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, PidFD: &c.fd},
		})
		back(c.first)
	}
	for _, file := range files {
		if int(file) != k.null {
			_ = unix.Close(int(file))
		}
	}
	if err != nil {
		number, _ := errors.AsType[syscall.Errno](err)
		k.out = append(k.out, newFrame(kindFailed, f.number).uint(uint64(number)).text(err.Error()).frame()...)
		return k.flush()
	}
	k.command = c
	c.lookAgain(time.Now(), 0)
	k.out = append(k.out, newFrame(kindStarted, f.number).uint(uint64(c.first)).frame()...)
	return k.flush()
}

// take are the descriptors of a command: those that came, and /dev/null between them.
func (k *supervisor) take(count, given uint64) ([]uintptr, error) {
	files := make([]uintptr, max(count, 3))
	for i := range files {
		files[i] = uintptr(k.null)
		if given>>i&1 == 0 {
			continue
		}
		if len(k.files) == 0 {
			return nil, errors.New("a descriptor is missing")
		}
		files[i], k.files = uintptr(k.files[0]), k.files[1:]
	}
	return files, nil
}

// setLimits sets the limits that the system holds, once, for the supervisor and so for all
// that it starts: between a fork and a program there is no place to set them, and after
// that it may be too late. The host knows, and has a supervisor for each set of limits.
func (k *supervisor) setLimits(f *startFrame) error {
	if k.limits {
		return nil
	}
	bounds := map[int]uint64{unix.RLIMIT_CORE: 0}
	if f.openFiles > 0 {
		bounds[unix.RLIMIT_NOFILE] = f.openFiles
	}
	if f.fileSize > 0 {
		bounds[unix.RLIMIT_FSIZE] = f.fileSize
	}
	for resource, bound := range bounds {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("reading limit %s: %w", strconv.Itoa(resource), err)
		}
		bound = min(bound, now.Max) // one that is tighter already stays
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: bound, Max: bound}); err != nil {
			return fmt.Errorf("setting limit %s: %w", strconv.Itoa(resource), err)
		}
	}
	k.limits = true
	return nil
}

// flush sends what is to be said. A host that is gone is noticed where it is listened to.
func (k *supervisor) flush() error {
	for len(k.out) > 0 {
		n, err := unix.SendmsgN(hostSocket, k.out, nil, nil, unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err == unix.EPIPE || err == unix.ECONNRESET {
			break
		}
		if err != nil {
			return fmt.Errorf("answering the host: %w", err)
		}
		k.out = k.out[n:]
	}
	k.out = k.out[:0]
	return nil
}
