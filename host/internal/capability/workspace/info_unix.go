//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// fileID tells files apart for as long as one is held open.
type fileID struct{ dev, ino uint64 }

func (a fileID) same(b fileID) bool { return a == b }

func (a fileID) numbers() (device, inode uint64) { return a.dev, a.ino }

func infoOf(st *unix.Stat_t) Info {
	sec, nsec := st.Mtim.Unix()
	info := Info{
		Kind:    abi.KindOther,
		ModTime: time.Unix(sec, nsec),
		Mode:    widenMode(st.Mode) & 0o7777,
		UID:     st.Uid,
		GID:     st.Gid,
		Links:   widenLinks(st.Nlink),
		id:      fileID{dev: widen(st.Dev), ino: st.Ino},
	}
	info.ChangeTime = time.Unix(st.Ctim.Unix())
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		info.Kind, info.Size = abi.KindFile, st.Size
	case unix.S_IFDIR:
		info.Kind = abi.KindDirectory
	case unix.S_IFLNK:
		info.Kind = abi.KindSymlink
	case unix.S_IFIFO:
		info.what = "a FIFO (named pipe)"
	case unix.S_IFSOCK:
		info.what = "a socket"
	case unix.S_IFCHR:
		info.what = "a character device"
	case unix.S_IFBLK:
		info.what = "a block device"
	default:
		info.what = "a special file"
	}
	return info
}

// widen takes a device number, whose Go type differs by system.
func widen[T int32 | uint32 | uint64](n T) uint64 { return uint64(n) }

// widenLinks takes a number of links, whose Go type differs by system.
func widenLinks[T uint16 | uint32 | uint64](n T) uint64 { return uint64(n) }

// widenMode takes a mode, whose Go type differs by system.
func widenMode[T uint16 | uint32](n T) uint32 { return uint32(n) }

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		fd, err := call()
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// again is retry for a call that returns nothing else.
func again(call func() error) error {
	_, err := retry(func() (int, error) { return 0, call() })
	return err
}

func openat(dir int, name string, flags int) (int, error) {
	return retry(func() (int, error) { return unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0) })
}

func fstat(fd int) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
}

func fstatat(dir int, name string) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
}

// readlink returns the text of a link, which a path cannot be longer than.
func readlink(dir int, name string) (string, error) {
	buf := make([]byte, maxPath)
	n, err := unix.Readlinkat(dir, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}
