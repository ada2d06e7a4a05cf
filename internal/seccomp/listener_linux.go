//go:build amd64 || arm64

package seccomp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Notify makes a call wait until the filter's listener has answered (seccomp user notification); see
// [Listener]. If another filter refuses the call, that takes precedence.
const Notify = unix.SECCOMP_RET_USER_NOTIF

// Flags of the system call that installs a filter. WithListener makes it return a listener. With
// Undisturbed, since Linux 5.19, only a fatal signal interrupts a call that waits.
const (
	WithListener = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	Undisturbed  = unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
)

// Call is a system call that waits for the listener's answer.
type Call struct {
	ID uint64
	// Thread is the id of the thread that made it, in this process's PID namespace.
	Thread int
	Number uintptr
	Args   [6]uint64
}

// Listener receives the calls of a filter with [Notify], and lets them continue. A call waits until the listener
// answers; after the listener is closed such calls fail with ENOSYS. It is for one goroutine, but others may call
// Close and Waits.
type Listener struct {
	fd   int
	stop int // an eventfd
	done chan struct{}
	// mu guards stop, which is closed once over is set.
	mu   sync.Mutex
	over bool
	// limit bounds how long a call waits, and late counts the calls that continued while do took longer.
	limit time.Duration
	late  int
}

// noticed and answered are the kernel's struct seccomp_notif and struct seccomp_notif_resp.
type noticed struct {
	id            uint64
	thread, flags uint32
	number, arch  uint32
	instruction   uint64
	args          [6]uint64
}

type answered struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// ErrOver means that no process with the filter is left, or that the listener was closed.
var ErrOver = errors.New("nothing is left to listen to")

// Listen takes over a listener, and closes it on failure. limit bounds how long a call waits.
func Listen(f *os.File, limit time.Duration) (*Listener, error) {
	defer f.Close() // a copy is used
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("eventfd2", err)
	}
	// The waiting thread sleeps until the answer, so that the answering one can run on its processor. Linux
	// before 6.6 refuses this, which only costs speed.
	_, _, _ = unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	return &Listener{fd: fd, stop: stop, done: make(chan struct{}), limit: limit}, nil
}

// Serve calls do for each call, and lets the call continue when do returns. It ends when no process with the filter
// is left or Close is called, and closes the listener. If do takes longer than the limit, its call continues, and so
// do calls that arrive meanwhile; when do returns, late gets their number. Serve is called once.
func (l *Listener) Serve(do func(Call), late func(n int)) error {
	defer close(l.done)
	defer l.give()
	for {
		c, err := l.next(nil)
		if errors.Is(err, ErrOver) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := l.attend(c, do); err != nil {
			return err
		}
		if l.late > 0 {
			late(l.late)
			l.late = 0
		}
	}
}

// attend lets a call continue when do returns, or at the limit.
func (l *Listener) attend(c Call, do func(Call)) error {
	var fault error
	back, stood := make(chan struct{}), make(chan struct{})
	timer := time.AfterFunc(l.limit, func() {
		defer close(stood)
		fault = l.standIn(c, back)
	})
	do(c)
	if timer.Stop() {
		return l.goOn(c)
	}
	close(back)
	<-stood
	return fault
}

// standIn lets calls continue, and counts them, until do returns.
func (l *Listener) standIn(c Call, back <-chan struct{}) error {
	for {
		l.late++
		err := l.goOn(c)
		if err == nil {
			c, err = l.next(back)
		}
		if errors.Is(err, errBack) || errors.Is(err, ErrOver) {
			return nil // Serve sees that too
		}
		if err != nil {
			return err
		}
	}
}

// errBack means that do has returned.
var errBack = errors.New("the handler has returned")

// give closes the descriptors.
func (l *Listener) give() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	_, _ = unix.Close(l.fd), unix.Close(l.stop)
}

// Close ends [Listener.Serve], which must have been called, and waits for it, but no longer than the limit.
func (l *Listener) Close() error {
	err := l.wake()
	select {
	case <-l.done:
	case <-time.After(l.limit):
	}
	return err
}

func (l *Listener) wake() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	_, err := unix.Write(l.stop, binary.NativeEndian.AppendUint64(nil, 1))
	return os.NewSyscallError("write", err)
}

// next waits for a call, or until back is closed.
func (l *Listener) next(back <-chan struct{}) (Call, error) {
	wait := -1
	if back != nil {
		wait = 20 // milliseconds
	}
	for {
		list := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}, {Fd: int32(l.stop), Events: unix.POLLIN}}
		n, err := unix.Poll(list, wait)
		select {
		case <-back: // the next call is for Serve
			return Call{}, errBack
		default:
		}
		switch {
		case n == 0:
			continue
		case err == unix.EINTR:
			continue
		case err != nil:
			return Call{}, os.NewSyscallError("poll", err)
		case list[1].Revents != 0:
			return Call{}, ErrOver
		case list[0].Revents&unix.POLLIN == 0:
			return Call{}, ErrOver
		}
		// A call is pending, and nobody else receives calls now, so this does not block.
		var notice noticed
		_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(l.fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&notice)))
		runtime.KeepAlive(l)
		switch errno {
		case 0:
			return Call{notice.id, int(notice.thread), uintptr(notice.number), notice.args}, nil
		case unix.EINTR, unix.ENOENT: // its thread has ended, or a signal interrupted it
		default:
			return Call{}, fmt.Errorf("receiving a system call: %w", errno)
		}
	}
}

// goOn lets a call continue. It does nothing if the call's thread has ended.
func (l *Listener) goOn(c Call) error {
	for {
		answer := answered{id: c.ID, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(l.fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer)))
		runtime.KeepAlive(l)
		switch errno {
		case 0, unix.ENOENT:
			return nil
		case unix.EINTR:
		default:
			return fmt.Errorf("letting a system call go on: %w", errno)
		}
	}
}

// Waits reports whether a call still waits. If so, what was read from its thread before belongs to that thread: the
// thread id was not reused.
func (l *Listener) Waits(c Call) bool {
	id := c.ID
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(l.fd), unix.SECCOMP_IOCTL_NOTIF_ID_VALID, uintptr(unsafe.Pointer(&id)))
	return errno == 0
}

// ListenerFlags returns the flags for installing a filter with a listener on this kernel; 0 if it cannot.
func ListenerFlags() uintptr {
	known := func(flags uintptr) bool { // if so, the kernel tries to read the filter at address 0
		_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, 0)
		return errno == unix.EFAULT
	}
	switch {
	case known(WithListener | Undisturbed):
		return WithListener | Undisturbed
	case known(WithListener):
		return WithListener
	}
	return 0
}
