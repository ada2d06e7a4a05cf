//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// asFile makes a file of a descriptor that must hold what the node holds.
func asFile(fd int, n *Node) (*os.File, Info, error) {
	info, err := fstat(fd)
	if err == nil && !info.Same(n.Info) {
		err = errChanged
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, Info{}, err
	}
	return os.NewFile(uintptr(fd), n.Real), info, nil
}

// Dir is an open directory. Its methods follow no links. All but ReadDir and
// Next may be called concurrently.
type Dir struct {
	fd   int
	real string
	info Info
	file *os.File // the same descriptor, made when ReadDir needs it
	// prompt says that files in it can be opened without waiting, mostly.
	prompt bool
}

func newDir(fd int, path string, info Info) *Dir {
	return &Dir{fd: fd, real: path, info: info}
}

// ReadDir returns the next entries, at most n of them, in no order; io.EOF
// after the last.
func (d *Dir) ReadDir(n int) ([]fs.DirEntry, error) {
	if d.file == nil {
		d.file = os.NewFile(uintptr(d.fd), d.real)
	}
	entries, err := d.file.ReadDir(n)
	if err != nil && !errors.Is(err, io.EOF) {
		return entries, fault(d.real, err)
	}
	return entries, err
}

// Stat tells of an entry, without following a link.
func (d *Dir) Stat(name string) (Info, error) {
	info, err := fstatat(d.fd, name)
	if err != nil {
		return Info{}, fault(d.join(name), err)
	}
	return info, nil
}

// OpenDir opens a directory in this one.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	path := d.join(name)
	if err := refusePath(path, path); err != nil {
		return nil, err
	}
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW
	fd, info, err := d.open(name, flags)
	if err == nil && info.id.dev != d.info.id.dev && kernelOwned(fd, info) {
		err = refused(path, "it lies in a file system of the kernel's")
	}
	if err != nil {
		return nil, fault(path, abandon(fd, err))
	}
	sub := newDir(fd, path, info)
	if sub.prompt = d.prompt; info.id.dev != d.info.id.dev {
		sub.prompt = isPrompt(fd)
	}
	return sub, nil
}

// openFile are the flags that open a file for reading, and wait for no other side of it.
const openFile = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY

// OpenFile opens a regular file in this directory for reading. What is read is
// for one goroutine at a time.
func (d *Dir) OpenFile(name string) (io.ReadCloser, Info, error) {
	fd, info, ok := d.openPrompt(name)
	var err error
	if !ok {
		fd, info, err = d.open(name, openFile)
	}
	if err == nil && info.Kind != abi.KindFile {
		err = abi.Errorf(abi.CodeNotRegular, "%s is no regular file", d.join(name))
	}
	if err != nil {
		return nil, Info{}, fault(d.join(name), abandon(fd, err))
	}
	return &rawFile{fd: fd, prompt: d.prompt && info.id.dev == d.info.id.dev}, info, nil
}

// open opens an entry; the descriptor is -1 where it was not opened.
func (d *Dir) open(name string, flags int) (fd int, info Info, err error) {
	if fd, err = openat(d.fd, name, flags); err != nil {
		return -1, Info{}, err // for some names it would be 0
	}
	info, err = fstat(fd)
	return fd, info, err
}

// abandon closes what was opened in vain, if it was, and returns why.
func abandon(fd int, err error) error {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
	return err
}

// Close closes the directory; what was opened from it stays open.
func (d *Dir) Close() error {
	if d.file != nil {
		return d.file.Close()
	}
	fd := d.fd
	d.fd = -1
	return unix.Close(fd)
}

func (d *Dir) join(name string) string {
	if d.real == "/" {
		return "/" + name
	}
	return d.real + "/" + name
}

// rawFile reads a regular file without the poller of package os, which a search
// would pay for with every file.
type rawFile struct {
	fd     int
	prompt bool // it lies where what is cached can be read without waiting
}

func (f *rawFile) Read(b []byte) (n int, err error) {
	n, done := f.readPrompt(b)
	if !done {
		n, err = retry(func() (int, error) { return unix.Read(f.fd, b) })
	}
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// Close closes the descriptor.
func (f *rawFile) Close() error {
	fd := f.fd
	f.fd = -1
	return unix.Close(fd)
}
