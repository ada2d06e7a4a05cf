//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// errQuota is how the system says that a user's share of a disk is used up.
const errQuota = syscall.EDQUOT

// calls are the system calls that make a draft, so that a test can let each of them
// fail. Names are of entries of the directory dir.
type calls struct {
	// unnamed opens a file without a name, and link gives it its first one.
	unnamed func(dir int, mode uint32) (int, error)
	link    func(fd, dir int, name string) error
	// named makes a file and opens it.
	named func(dir int, name string, mode uint32) (int, error)
	mkdir func(dir int, name string) error
	write func(fd int, p []byte) (int, error)
	// sync writes a file out to the disk, syncDir a directory.
	sync    func(fd int) error
	syncDir func(dir int) error
	// exchange swaps two names at once, move renames to a name that nothing has;
	// where the system cannot, the error is [incapable].
	exchange func(dir int, a, b string) error
	move     func(dir int, from, to string) error
	// rename replaces what is there.
	rename func(dir int, from, to string) error
	unlink func(dir int, name string) error
}

// system are the calls as they are.
var system = calls{
	unnamed:  openUnnamed,
	link:     linkUnnamed,
	named:    openNamed,
	mkdir:    func(dir int, name string) error { return unix.Mkdirat(dir, name, 0o777) },
	write:    unix.Write,
	sync:     syncFile,
	syncDir:  syncDirectory,
	exchange: exchange,
	move:     move,
	rename:   func(dir int, from, to string) error { return unix.Renameat(dir, from, dir, to) },
	unlink:   func(dir int, name string) error { return unix.Unlinkat(dir, name, 0) },
}

func openNamed(dir int, name string, mode uint32) (int, error) {
	return retry(func() (int, error) {
		return unix.Openat(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	})
}

// syncDirectory writes a directory out to the disk. One that the host may not read
// cannot be.
func syncDirectory(dir int) error {
	fd, err := openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	err = again(func() error { return unix.Fsync(fd) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // the file system has no such thing
	}
	return err
}

// incapable reports whether an error says that a system or file system has no such
// call.
func incapable(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP)
}
