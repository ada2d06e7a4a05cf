//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/toolquay/toolquay/abi"
)

type fileID struct{ info os.FileInfo }

func (a fileID) same(b fileID) bool {
	return a.info != nil && b.info != nil && os.SameFile(a.info, b.info)
}

func (fileID) numbers() (device, inode uint64) { return 0, 0 }

func infoOf(fi os.FileInfo) Info {
	info := Info{Kind: abi.KindOther, ModTime: fi.ModTime(), Mode: uint32(fi.Mode().Perm()), what: "a special file", id: fileID{fi}}
	switch mode := fi.Mode(); {
	case mode.IsRegular():
		info.Kind, info.Size = abi.KindFile, fi.Size()
	case mode.IsDir():
		info.Kind = abi.KindDirectory
	case mode&fs.ModeSymlink != 0:
		info.Kind = abi.KindSymlink
	}
	return info
}

// Resolve finds out where a path leads; one that is not absolute starts at cwd.
// Links are resolved by name: what is opened later is compared with what was
// found now.
//
// A node comes back also where nothing is found, so that its access can be
// judged before anyone learns that; [Node.Err] then tells. Errors are
// *abi.Error: [abi.CodeInvalidInput] for what is no path.
func Resolve(cwd, path string) (*Node, error) {
	p, err := name(cwd, path)
	if err != nil {
		return nil, err
	}
	n := &Node{Target: p.target}
	if n.Real, err = filepath.EvalSymlinks(p.target); err != nil {
		n.Real = realParent(p.target)
		n.fault = fault(n.Target, err)
		n.bar(false, p.dir)
		return n, nil
	}
	fi, err := os.Lstat(n.Real)
	if err == nil && p.dir && !fi.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		n.fault = fault(n.Target, err)
		return n, nil
	}
	n.Info = infoOf(fi)
	return n, nil
}

// realParent resolves as much of a path as exists.
func realParent(path string) string {
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	if dir == path {
		return path
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, base)
	}
	return filepath.Join(realParent(dir), base)
}

// handle holds nothing here.
type handle struct{}

// unheld returns the handle of a node for which nothing is open.
func unheld() handle { return handle{} }

func (*handle) close() error { return nil }

func (*handle) open(n *Node) (*os.File, Info, error) {
	f, err := os.Open(n.Real)
	if err != nil {
		return nil, Info{}, err
	}
	fi, err := f.Stat()
	if err == nil && !os.SameFile(fi, n.Info.id.info) {
		err = errChanged
	}
	if err != nil {
		return nil, Info{}, errors.Join(err, f.Close())
	}
	return f, infoOf(fi), nil
}

func (*handle) openDir(n *Node) (*Dir, error) {
	root, err := os.OpenRoot(n.Real)
	if err != nil {
		return nil, err
	}
	return newDir(root, n.Real, n.Info)
}

// Dir is an open directory. Its methods follow no links. All but ReadDir and
// Next may be called concurrently.
type Dir struct {
	root *os.Root
	file *os.File
	real string
}

// newDir takes over the root, which must be what was seen.
func newDir(root *os.Root, real string, seen Info) (*Dir, error) {
	fi, err := root.Stat(".")
	if err == nil && !os.SameFile(fi, seen.id.info) {
		err = errChanged
	}
	var file *os.File
	if err == nil {
		file, err = root.Open(".")
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Dir{root: root, file: file, real: real}, nil
}

// ReadDir returns the next entries, at most n of them, in no order; io.EOF
// after the last.
func (d *Dir) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := d.file.ReadDir(n)
	if err != nil && !errors.Is(err, io.EOF) {
		return entries, fault(d.real, err)
	}
	return entries, err
}

// Stat tells of an entry, without following a link.
func (d *Dir) Stat(name string) (Info, error) {
	fi, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, fault(d.join(name), err)
	}
	return infoOf(fi), nil
}

// OpenDir opens a directory in this one.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	info, err := d.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Kind != abi.KindDirectory {
		return nil, abi.Errorf(abi.CodeNotDirectory, "%s is not a directory", d.join(name))
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, fault(d.join(name), err)
	}
	sub, err := newDir(root, d.join(name), info)
	if err != nil {
		return nil, fault(d.join(name), err)
	}
	return sub, nil
}

// OpenFile opens a regular file in this directory for reading. What is read is
// for one goroutine at a time.
func (d *Dir) OpenFile(name string) (io.ReadCloser, Info, error) {
	seen, err := d.Stat(name)
	if err != nil {
		return nil, Info{}, err
	}
	if seen.Kind != abi.KindFile {
		return nil, Info{}, abi.Errorf(abi.CodeNotRegular, "%s is no regular file", d.join(name))
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, Info{}, fault(d.join(name), err)
	}
	fi, err := f.Stat()
	if err == nil && !os.SameFile(fi, seen.id.info) {
		err = errChanged
	}
	if err != nil {
		return nil, Info{}, fault(d.join(name), errors.Join(err, f.Close()))
	}
	return f, infoOf(fi), nil
}

// Close closes the directory; what was opened from it stays open.
func (d *Dir) Close() error { return errors.Join(d.file.Close(), d.root.Close()) }

func (d *Dir) join(name string) string { return filepath.Join(d.real, name) }
