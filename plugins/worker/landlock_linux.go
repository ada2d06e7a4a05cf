package worker

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Landlock calls rights to files: all that its second version knows, and
// those of them that a compile cache needs. See landlock(7).
const (
	fileRights  = unix.LANDLOCK_ACCESS_FS_REFER<<1 - 1
	cacheRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
)

// fence keeps this process for good from opening and changing files that are not
// below dir, which is made where it is missing; an empty dir leaves none, and so
// does one that cannot be opened. Where the system has no fence the error is an
// [errors.ErrUnsupported].
func fence(dir string) error {
	version, err := fenceVersion()
	if err != nil {
		return err
	}
	rights, cache := uint64(fileRights), uint64(cacheRights)
	if version >= 3 {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
		cache |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attributes := unix.LandlockRulesetAttr{Access_fs: rights}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0)
	if errno != 0 {
		return fmt.Errorf("making a fence for files (Landlock): %w", errno)
	}
	defer unix.Close(int(fd))
	if dir != "" {
		_ = leaveOpen(fd, dir, cache) // whoever needs the directory will say what is wrong with it
	}
	// Threads that are made from now on inherit it.
	_, _, errno = syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0)
	if errno == 0 {
		_, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	}
	if errno != 0 {
		return fmt.Errorf("setting up a fence for files (Landlock): %w", errno)
	}
	return nil
}

// fenceVersion returns the version of Landlock, or why there is no use of it:
// before Linux 5.19, files cannot be moved between directories behind a fence,
// and in a program with cgo, not all threads can be reached.
func fenceVersion() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("there is no Landlock (%v): %w", errno, errors.ErrUnsupported)
	}
	if version < 2 {
		return 0, fmt.Errorf("its Landlock is older than that of Linux 5.19: %w", errors.ErrUnsupported)
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0); errno != 0 {
		return 0, fmt.Errorf("a program with cgo cannot use Landlock: %w", errors.ErrUnsupported)
	}
	return int(version), nil
}

// leaveOpen grants rights to what lies below a directory.
func leaveOpen(ruleset uintptr, dir string, rights uint64) error {
	err := os.MkdirAll(dir, 0o700)
	parent, openErr := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if openErr != nil {
		return fmt.Errorf("opening the directory of compiled code: %w", errors.Join(openErr, err))
	}
	defer unix.Close(parent)
	below := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(parent)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&below)), 0, 0, 0)
	runtime.KeepAlive(&below)
	if errno != 0 {
		return fmt.Errorf("leaving the directory of compiled code open: %w", errno)
	}
	return nil
}
