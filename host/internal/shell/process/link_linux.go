package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// hostSocket is the supervisor's descriptor for its end of the socket to the host.
const hostSocket = 3

// link is the supervisor's end of the socket to the host. The host's frames are read
// whole with what came with them, and the supervisor's wait until they are flushed.
type link struct {
	in    []byte
	buf   []byte // what is read goes through it
	files []int  // descriptors that came and belong to a frame not read yet
	out   []byte
}

// receive reads what the host has said. open is false when the host is gone.
func (l *link) receive() (open bool, err error) {
	if l.buf == nil {
		l.buf = make([]byte, 64<<10)
	}
	rights := make([]byte, unix.CmsgSpace(4*maxFiles))
	for {
		n, r, flags, _, err := unix.Recvmsg(hostSocket, l.buf, rights, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return true, nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECONNRESET), err == nil && n == 0: // reset: killed with something unread
			return false, nil
		case err != nil:
			return true, fmt.Errorf("hearing the host: %w", err)
		case flags&unix.MSG_CTRUNC != 0:
			return true, errors.New("descriptors of the host were lost")
		}
		l.in = append(l.in, l.buf[:n]...)
		if err := l.accept(rights[:r]); err != nil {
			return true, err
		}
	}
}

// accept takes the descriptors that came with a message.
func (l *link) accept(rights []byte) error {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return fmt.Errorf("descriptors of the host: %w", err)
	}
	for i := range messages {
		files, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return fmt.Errorf("descriptors of the host: %w", err)
		}
		l.files = append(l.files, files...)
	}
	return nil
}

// take takes the descriptors of a command: those that came, and /dev/null between them.
func (l *link) take(count, given uint64, null int) ([]uintptr, error) {
	files := make([]uintptr, max(count, 3))
	for i := range files {
		files[i] = uintptr(null)
		if given>>i&1 == 0 {
			continue
		}
		if len(l.files) == 0 {
			return nil, errors.New("a descriptor is missing")
		}
		files[i], l.files = uintptr(l.files[0]), l.files[1:]
	}
	return files, nil
}

// say has a frame sent with the next flush.
func (l *link) say(frame []byte) { l.out = append(l.out, frame...) }

// flush sends what is to be said. A host that is gone is noticed where it is listened to.
func (l *link) flush() error {
	for len(l.out) > 0 {
		n, err := unix.SendmsgN(hostSocket, l.out, nil, nil, unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err == unix.EPIPE || err == unix.ECONNRESET {
			break
		}
		if err != nil {
			return fmt.Errorf("answering the host: %w", err)
		}
		l.out = l.out[n:]
	}
	l.out = l.out[:0]
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
