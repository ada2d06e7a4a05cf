//go:build unix

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// watchReader calls gone where who reads a file goes away: the other end of a pipe
// or socket is closed, or the terminal hung up. It watches as long as the program
// runs.
func watchReader(f *os.File, gone func()) {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}} //nolint:gosec // a descriptor is small
	go func() {
		for {
			_, err := unix.Poll(fds, -1)
			switch {
			case errors.Is(err, unix.EINTR):
			case err == nil && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
				gone()
				return
			default:
				return // it cannot be watched; writing will tell
			}
		}
	}()
}
