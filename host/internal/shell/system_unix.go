//go:build unix

package shell

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// carefully opens what a command may have put in a file's place: no link is followed,
// and nobody waited for.
const carefully = unix.O_NOFOLLOW | unix.O_NONBLOCK

// signalName is a signal's name, such as SIGKILL.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s)) // such as a real-time one
}

// makeFIFO makes a FIFO, and opens it for both, so that nobody waits for its other end.
func makeFIFO(path string) (*os.File, error) {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, &os.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	f, err := os.OpenFile(path, os.O_RDWR|carefully, 0)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return f, nil
}

// readNow reads what a file or FIFO holds, without waiting for more.
func readNow(f *os.File, b []byte) (int, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	n := 0
	failed := raw.Control(func(fd uintptr) { n, err = unix.Read(int(fd), b) })
	return max(n, 0), errors.Join(failed, err)
}
