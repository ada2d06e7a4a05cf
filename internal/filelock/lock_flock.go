//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// openFlags have the opening of a lock file follow no link and wait for no FIFO.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// Try takes the lock if it is free, else it returns [ErrLocked].
func Try(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		default:
			return os.NewSyscallError("flock", err)
		}
	}
}

// Unlock lets go of the lock, as closing the file does.
func Unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // it cannot fail while the file is open
}
