package audit

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
)

// tryLock takes the lock if it is free: the first byte of the file, which
// nobody reads.
func tryLock(f *os.File) error {
	var overlapped syscall.Overlapped
	ok, _, err := lockFileEx.Call(f.Fd(), lockExclusive|lockFailImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&overlapped)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errorLockViolation):
		return errLocked
	}
	return os.NewSyscallError("LockFileEx", err)
}

// unlock lets go of the lock. It cannot fail while the file is open.
func unlock(f *os.File) {
	var overlapped syscall.Overlapped
	_, _, _ = unlockFileEx.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&overlapped)))
}
