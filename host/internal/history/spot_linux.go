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

// lookAt opens what lies at a path, to be looked at, if no link is on the way.
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

// reopen opens what is looked at, for reading. Where a program holds a lease of it, it does not wait.
func reopen(f *os.File) (*os.File, error) {
	return os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// targetOf is where a link leads.
func targetOf(f *os.File) string {
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(int(f.Fd()), "", buf[:])
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

// identity is the device, the inode and the time of the last change of anything.
func identity(info fs.FileInfo) (device, inode uint64, touched int64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	return uint64(st.Dev), st.Ino, st.Ctim.Nano() //nolint:unconvert // narrower on some machines
}

// moveAt gives a file another name, if nothing has that. No link is followed.
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
