//go:build amd64 || arm64

package touches

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxPath is the length of the longest path that the kernel takes, in bytes, with its final zero.
	maxPath = 4096
	// maxLinks is how many symbolic links the kernel follows in a path.
	maxLinks = 40
	// remembered bounds the directories whose real paths are cached, and trusted bounds for how long. Renames by
	// the command itself are reported, and empty the cache.
	remembered, trusted = 4096, 100 * time.Millisecond
)

// paths resolves the paths that threads pass to system calls, as the kernel does. It is for one goroutine.
type paths struct {
	root   *os.File
	rootFD int
	// dirs caches the real paths of directories, by the paths that named them, since the time begun.
	dirs  map[string]string
	begun time.Time
	page  int
	// unread says that process_vm_readv does not work, and memory is read from /proc.
	unread bool
	buf    [maxPath]byte
}

func newPaths(root *os.File) paths {
	return paths{root: root, rootFD: int(root.Fd()), dirs: make(map[string]string), page: os.Getpagesize()}
}

// fresh empties the cache if it is too old or too large.
func (p *paths) fresh(now time.Time) {
	if len(p.dirs) == 0 {
		p.begun = now
	}
	if now.Sub(p.begun) > trusted || len(p.dirs) >= remembered {
		p.forget()
	}
}

func (p *paths) forget() { clear(p.dirs) }

// find returns the real path of a file. It is empty if the file does not exist and cannot be made, or is not in a
// file system.
func (p *paths) find(thread, dir int, path string, follow bool) (string, error) {
	for range maxLinks {
		if n, ok := descriptorOf(path); ok && follow {
			return p.descriptor(thread, n), nil
		}
		if rest, ok := strings.CutPrefix(path, "/proc/self/cwd/"); ok {
			dir, path = unix.AT_FDCWD, strings.TrimLeft(rest, "/")
		}
		full := path
		if !strings.HasPrefix(path, "/") {
			base := p.descriptor(thread, dir)
			if base == "" {
				return "", nil
			}
			full = base + "/" + path
		}
		above, name := split(full)
		if name == "" || name == "." || name == ".." {
			return p.dir(full)
		}
		lies, err := p.dir(above)
		if err != nil || lies == "" {
			return "", err
		}
		found := strings.TrimSuffix(lies, "/") + "/" + name
		if !follow {
			return found, nil
		}
		target := p.link(found)
		if target == "" {
			return found, nil
		}
		if path = target; !strings.HasPrefix(target, "/") {
			path = lies + "/" + target
		}
	}
	return "", nil
}

// split cuts the last name off a path. Slashes may follow the name.
func split(path string) (above, name string) {
	path = strings.TrimRight(path, "/")
	at := strings.LastIndexByte(path, '/')
	return path[:max(at, 0)], path[at+1:]
}

// descriptorOf returns the descriptor that a path such as /dev/fd/3 stands for.
func descriptorOf(path string) (int, bool) {
	for _, lead := range []string{"/proc/self/fd/", "/dev/fd/", "/proc/thread-self/fd/"} {
		if digits, ok := strings.CutPrefix(path, lead); ok {
			n, err := strconv.Atoi(digits)
			return n, err == nil
		}
	}
	return 0, false
}

// descriptor returns the real path of a file that a thread has open, or of its working directory (AT_FDCWD); empty if
// there is none.
func (p *paths) descriptor(thread, n int) string {
	name := "/proc/" + strconv.Itoa(thread) + "/cwd"
	if n != unix.AT_FDCWD {
		name = "/proc/" + strconv.Itoa(thread) + "/fd/" + strconv.Itoa(n)
	}
	var buf [maxPath]byte
	length, err := unix.Readlink(name, buf[:])
	if err != nil || length == 0 || buf[0] != '/' {
		return ""
	}
	return string(buf[:length])
}

// dir returns the real path of the directory at an absolute path in the sandbox; empty if there is none.
func (p *paths) dir(path string) (string, error) {
	if lies, ok := p.dirs[path]; ok {
		return lies, nil
	}
	name := path
	if name == "" {
		name = "/"
	}
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT}
	const attempts = 8 // openat2 fails with EAGAIN while something is renamed
	for range attempts {
		fd, err := unix.Openat2(p.rootFD, name, how)
		switch {
		case err == unix.EINTR, err == unix.EAGAIN:
			continue
		case err == unix.EXDEV:
			return "", errors.New("a file was named by a link of /proc")
		case err == unix.ENOENT, err == unix.ENOTDIR, err == unix.ELOOP, err == unix.EACCES:
			return "", nil // the call fails too
		case err != nil:
			return "", fmt.Errorf("finding a directory of a command: %w", err)
		}
		var buf [maxPath]byte
		length, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf[:])
		_ = unix.Close(fd)
		if err != nil || length == len(buf) {
			return "", fmt.Errorf("finding a directory of a command: %w", errors.Join(err, unix.ENAMETOOLONG))
		}
		lies := string(buf[:length])
		p.dirs[path] = lies
		return lies, nil
	}
	return "", fmt.Errorf("finding a directory of a command: %w", unix.EAGAIN)
}

// open opens what is at a real path, for its metadata. A symbolic link on the way is an error (ELOOP).
func (p *paths) open(path string) (int, error) {
	how := &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS,
	}
	for {
		fd, err := unix.Openat2(p.rootFD, path, how)
		if err != unix.EINTR && err != unix.EAGAIN {
			return fd, err
		}
	}
}

// link returns the target of a symbolic link; empty if the path is none.
func (p *paths) link(path string) string {
	fd, err := p.open(path)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var buf [maxPath]byte
	length, err := unix.Readlinkat(fd, "", buf[:])
	if err != nil {
		return ""
	}
	return string(buf[:length])
}

// there reports whether something is at a real path.
func (p *paths) there(path string) bool {
	fd, err := p.open(path)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err == nil
}

// text reads a path, which ends with a zero byte, from a thread's memory.
func (p *paths) text(thread int, at uint64) (string, error) {
	for n := 0; n < len(p.buf); {
		address := at + uint64(n)
		part := p.buf[n:min(len(p.buf), n+p.page-int(address%uint64(p.page)))]
		got, err := p.read(thread, address, part)
		if err != nil {
			return "", err
		}
		if end := bytes.IndexByte(part[:got], 0); end >= 0 {
			return string(p.buf[:n+end]), nil
		}
		n += got
	}
	return "", unix.ENAMETOOLONG
}

// number reads a 64-bit number from a thread's memory; 0 if the address is wrong or the thread has ended.
func (p *paths) number(thread int, at uint64) (n uint64, err error) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&n)), unsafe.Sizeof(n))
	if _, err := p.read(thread, at, b); err != nil && !errors.Is(err, unix.EFAULT) && !errors.Is(err, unix.ESRCH) {
		return 0, fmt.Errorf("the memory of a process cannot be read: %w", err)
	}
	return n, nil
}

// read reads from a thread's memory.
func (p *paths) read(thread int, at uint64, into []byte) (int, error) {
	if !p.unread {
		local := []unix.Iovec{{Base: &into[0], Len: uint64(len(into))}}
		n, err := unix.ProcessVMReadv(thread, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}, 0)
		if err == nil || !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) {
			return n, err
		}
		p.unread = true // perhaps by a container's seccomp filter
	}
	f, err := os.Open("/proc/" + strconv.Itoa(thread) + "/mem")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.ReadAt(into, int64(at)) //nolint:gosec // user-space addresses fit
	if n > 0 {
		return n, nil
	}
	if errors.Is(err, unix.EIO) {
		err = unix.EFAULT
	}
	return 0, err
}
