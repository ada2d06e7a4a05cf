package workspace

import (
	"errors"
	"os"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// noOpenat2 is set once a system without openat2 (Linux before 5.6, or a
// seccomp filter that does not know it) was met.
var noOpenat2 atomic.Bool

// openDirect takes hold of a path that leads over no link at all, in one call
// instead of one a component. It fails for every other path.
func openDirect(path string) (int, error) {
	if noOpenat2.Load() {
		return -1, unix.ENOSYS
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		noOpenat2.Store(true)
	}
	return fd, err
}

// step takes hold of what a directory has under a name, without opening it.
func step(dir int, name string) (place, error) {
	fd, err := openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return place{}, err
	}
	p := place{fd: fd}
	if p.info, err = fstat(fd); err == nil && p.info.Kind == abi.KindSymlink {
		p.link, err = readlink(fd, "")
	}
	if err != nil {
		p.close()
		return place{}, err
	}
	return p, nil
}

// handle is an O_PATH descriptor: a hold on a file that is not open.
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

// open opens the file that is held, by way of the link the kernel keeps to it.
// Where /proc is not mounted it goes by the real path and compares.
func (h *handle) open(n *Node) (*os.File, Info, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open("/proc/self/fd/"+strconv.Itoa(h.fd), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		fd, err = openat(unix.AT_FDCWD, n.Real, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY)
	}
	if err != nil {
		return nil, Info{}, err
	}
	return asFile(fd, n)
}

func (h *handle) openDir(n *Node) (*Dir, error) {
	fd, err := openat(h.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	d := newDir(fd, n.Real, n.Info)
	d.prompt = isPrompt(fd)
	return d, nil
}
