//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockABI is the version of what the kernel offers by Landlock; see landlock(7). 0 is none.
type landlockABI int

// The versions from which on the kernel knows more than files.
const (
	moves    landlockABI = 2 // from one directory to another
	empties  landlockABI = 3 // the cutting off of files
	ports    landlockABI = 4
	devices  landlockABI = 5 // what is asked of them by ioctl
	isolates landlockABI = 6 // signals and abstract sockets
)

// askLandlock asks for it.
func askLandlock() landlockABI {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return landlockABI(n)
}

// What Landlock lets a process do below a directory. Rights of later versions are left out
// where the kernel does not know them.
const (
	mayRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayWrite = mayRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	mayUseDevice = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// ofFiles are the rights that there are to what is no directory.
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// rights are those to files that the version knows.
func (v landlockABI) rights() uint64 {
	const first = 13 // how many the first version has
	count := first
	for _, more := range []landlockABI{moves, empties, devices} {
		if v >= more {
			count++
		}
	}
	return 1<<count - 1
}

// ruleset is what a process may do, by Landlock: what is not granted, it may not.
type ruleset struct {
	file    *os.File
	handled uint64
	rules   int
}

// newRuleset makes one that grants nothing, with the network or without.
func newRuleset(v landlockABI, network bool) (*ruleset, error) {
	attr := unix.LandlockRulesetAttr{Access_fs: v.rights()}
	if v >= ports && !network {
		attr.Access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if v >= isolates {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	return &ruleset{file: os.NewFile(fd, "landlock"), handled: attr.Access_fs}, nil
}

// grant grants rights to what lies at a path without links, and below. What is not there, or
// is a link by now, is left out.
func (r *ruleset) grant(path string, rights uint64) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	switch {
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOMEM):
		return fmt.Errorf("%s: %w", path, err)
	case err != nil:
		return nil
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	if rights &= r.handled; rights == 0 {
		return nil
	}
	// The kernel's structure is packed: its twelve bytes are the first of this one.
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, r.file.Fd(), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno == unix.EBADFD { // a pipe or a socket, which is not restricted
		return nil
	}
	r.rules++
	return os.NewSyscallError("landlock_add_rule", errnoOrNil(errno))
}

func errnoOrNil(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
