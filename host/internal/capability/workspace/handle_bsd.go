//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// openDirect is for systems that can resolve a path without links in one call.
func openDirect(string) (int, error) { return -1, unix.ENOSYS }

// step looks at what a directory has under a name and, if it is a directory or
// a regular file, opens it. What is opened must be what was seen.
func step(dir int, name string) (place, error) {
	info, err := fstatat(dir, name)
	if err != nil {
		return place{}, err
	}
	p := place{fd: -1, info: info}
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY
	switch info.Kind {
	case abi.KindSymlink:
		p.link, err = readlink(dir, name)
		return p, err
	case abi.KindDirectory:
		flags |= unix.O_DIRECTORY
	case abi.KindFile:
	default:
		return p, nil
	}
	if p.fd, err = openat(dir, name, flags); err != nil {
		if info.Kind == abi.KindFile {
			p.fd, p.err = -1, err // it can be asked about, if not read
			return p, nil
		}
		return place{}, err
	}
	now, err := fstat(p.fd)
	if err == nil && !now.Same(info) {
		err = errChanged
	}
	if err != nil {
		p.close()
		return place{}, err
	}
	return p, nil
}

// handle is a descriptor open for reading, or why there is none.
type handle struct {
	fd  int
	err error
}

func (h *handle) close() error {
	if h.fd < 0 {
		return nil
	}
	fd := h.fd
	h.fd = -1
	return unix.Close(fd)
}

func (h *handle) open(n *Node) (*os.File, Info, error) {
	if h.err != nil {
		return nil, Info{}, h.err
	}
	fd, err := retry(func() (int, error) { return unix.FcntlInt(uintptr(h.fd), unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil {
		return nil, Info{}, err
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		_ = unix.Close(fd)
		return nil, Info{}, err
	}
	return asFile(fd, n)
}

func (h *handle) openDir(n *Node) (*Dir, error) {
	fd, err := openat(h.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return newDir(fd, n.Real, n.Info), nil
}
