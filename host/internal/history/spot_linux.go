package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// lookAt opens what is at a path for its metadata. A symbolic link at the end is opened itself; one on the way is an
// error (ELOOP).
func lookAt(path string) (*os.File, error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, how)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case unix.EINTR, unix.EAGAIN:
		default:
			return nil, err
		}
	}
}

// reopen opens for reading what [lookAt] has opened. It does not block if a program holds a lease on the file.
func reopen(f *os.File) (*os.File, error) {
	return os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// targetOf returns the target of a symbolic link.
func targetOf(f *os.File) string {
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(int(f.Fd()), "", buf[:])
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

// identity returns the device, the inode, and the ctime in nanoseconds since 1970.
func identity(info fs.FileInfo) (device, inode uint64, touched int64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	return uint64(st.Dev), st.Ino, st.Ctim.Nano() //nolint:unconvert // Dev is narrower on some architectures
}

// moveAt renames a file, if nothing is at the new path, and fsyncs both directories. It follows no symbolic link.
func moveAt(from, to string) error {
	was, err := lookAt(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer was.Close()
	is, err := lookAt(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer is.Close()
	err = unix.Renameat2(int(was.Fd()), filepath.Base(from), int(is.Fd()), filepath.Base(to), unix.RENAME_NOREPLACE)
	if err != nil {
		return err
	}
	for _, dir := range []*os.File{is, was} {
		d, err := reopen(dir)
		if err == nil {
			err = errors.Join(d.Sync(), d.Close())
		}
		if err != nil {
			return fmt.Errorf("%w: %w", workspace.ErrUncertain, err)
		}
	}
	return nil
}
