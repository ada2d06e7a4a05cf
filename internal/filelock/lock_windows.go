package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx   = kernel32.NewProc("LockFileEx")
	unlockFileEx = kernel32.NewProc("UnlockFileEx")
)

const (
	lockExclusive       = 0x2
	lockFailImmediately = 0x1
	// errorLockViolation is ERROR_LOCK_VIOLATION.
	errorLockViolation = syscall.Errno(33)
	// lockedHigh is the upper half of the offset of the byte that is locked. Here a
	// lock keeps others from reading too, so it lies far behind all content.
	lockedHigh = 1 << 30
)

// openFlags are further flags for opening a lock file.
const openFlags = 0

// Try takes the lock if it is free, else it returns [ErrLocked].
func Try(f *os.File) error {
	overlapped := syscall.Overlapped{OffsetHigh: lockedHigh}
	ok, _, err := lockFileEx.Call(f.Fd(), lockExclusive|lockFailImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&overlapped)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errorLockViolation):
		return ErrLocked
	}
	return os.NewSyscallError("LockFileEx", err)
}

// Unlock lets go of the lock, as closing the file does.
func Unlock(f *os.File) {
	overlapped := syscall.Overlapped{OffsetHigh: lockedHigh}
	_, _, _ = unlockFileEx.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&overlapped)))
}
