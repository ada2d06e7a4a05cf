//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// making is the change of a [Spot] until it is committed.
type making struct {
	staging
	// plan makes a directory or link under a name; nil if it was made, or if there is none. If
	// the path is free, it is made under its final name, so that a killed host leaves no temporary one.
	plan func(name string) error
}

func begin(path string, makeDirs bool) (*making, error) {
	m := &making{staging: staging{stagedFile: stagedFile{calls: system, fd: -1}, base: filepath.Base(path)}}
	m.ground = &ground{calls: &m.calls, path: filepath.Dir(path), fd: -1}
	err := m.ground.find(makeDirs)
	if err == nil && kernelOwned(m.ground.fd, m.ground.info) {
		err = refused(path, "it lies in a file system of the kernel's")
	}
	if err != nil {
		return nil, joinLeft(err, m.ground.remove())
	}
	return m, nil
}

func lookAt(path string) (Info, string, error) {
	m, err := begin(path, false)
	if err != nil {
		return Info{}, "", err
	}
	defer m.ground.close()
	info, err := fstatat(m.ground.fd, m.base)
	if errors.Is(err, unix.ENOENT) {
		return Info{}, "", nil
	}
	if err != nil || info.Kind != abi.KindSymlink {
		return info, "", err
	}
	target, err := readlink(m.ground.fd, m.base)
	return info, target, err
}

func (m *making) makeFile(fill func(f File) error, mode uint32) error {
	if err := m.open(0o600); err != nil {
		return err
	}
	if err := fill(filling{&m.stagedFile}); err != nil {
		return err
	}
	if err := m.setMode(mode); err != nil {
		return err
	}
	return m.sync()
}

// filling is the [File] that a [Spot] fills.
type filling struct{ *stagedFile }

// Write implements [File].
func (f filling) Write(p []byte) (int, error) { return f.write(p) }

// Skip implements [File].
func (f filling) Skip(n int64) error { return f.skip(n) }

// Fd implements [File].
func (f filling) Fd() uintptr { return f.handle() }

func (m *making) makeDir(mode uint32) error {
	m.plan = func(name string) error {
		err := m.calls.mkdir(m.ground.fd, name)
		if err != nil || mode == 0 {
			return err
		}
		if err = m.chmodAt(name, mode); err != nil {
			err = errors.Join(err, unix.Unlinkat(m.ground.fd, name, unix.AT_REMOVEDIR))
		}
		return err
	}
	return nil
}

func (m *making) makeLink(target string) error {
	m.plan = func(name string) error {
		return again(func() error { return unix.Symlinkat(target, m.ground.fd, name) })
	}
	return nil
}

func (m *making) take(file string) error {
	name := tempName(m.base)
	if err := again(func() error { return unix.Renameat(unix.AT_FDCWD, file, m.ground.fd, name) }); err != nil {
		return err
	}
	m.temp = name
	return nil
}

// temporary makes what was planned under a temporary name, and returns the path of that.
func (m *making) temporary() (string, error) {
	if m.plan != nil {
		name := tempName(m.base)
		if err := m.plan(name); err != nil {
			return "", err
		}
		m.plan, m.temp = nil, name
	}
	return filepath.Join(m.ground.path, m.temp), nil
}

// inPlace makes what was planned under its final name, which must be free.
func (m *making) inPlace() error {
	err := m.plan(m.base)
	if errors.Is(err, unix.EEXIST) {
		return errReplaced
	}
	if err != nil {
		return err
	}
	return m.written()
}

func (m *making) commit(was Info, check func() error) error {
	if err := m.unchanged(was); err != nil {
		return err
	}
	if m.plan != nil && was.Kind == "" {
		return m.inPlace()
	}
	mine, err := m.mine()
	if err != nil {
		return err
	}
	switch {
	case mine.Kind == "" && was.Kind == "":
		return nil
	case mine.Kind == "":
		return m.remove(was, check)
	case was.Kind == "":
		return m.create(mine)
	case check != nil:
		if err := check(); err != nil {
			return err
		}
	}
	return m.replace(was, mine)
}

// mine returns the metadata of the file that was made; the zero Info means that none was.
func (m *making) mine() (Info, error) {
	_, err := m.temporary()
	switch {
	case err != nil:
		return Info{}, err
	case m.fd >= 0:
		return fstat(m.fd)
	case m.temp != "":
		return fstatat(m.ground.fd, m.temp)
	}
	return Info{}, nil
}

// remove removes what was there. Anything but a directory is renamed first and then compared with
// was, so that nothing else that took its place is removed.
func (m *making) remove(was Info, check func() error) error {
	dir := m.ground.fd
	if was.Kind == abi.KindDirectory {
		if err := unix.Unlinkat(dir, m.base, unix.AT_REMOVEDIR); err != nil {
			return emptied(err)
		}
		return m.written()
	}
	aside := tempName(m.base)
	if err := m.ground.move(m.base, aside); err != nil {
		return err
	}
	out, err := fstatat(dir, aside)
	if err == nil && !out.still(was) {
		err = errReplaced
	}
	if err == nil && check != nil {
		err = check()
	}
	if err != nil {
		if e := m.ground.move(aside, m.base); e != nil {
			return m.kept(aside, err, e)
		}
		return err
	}
	if err := m.calls.unlink(dir, aside); err != nil {
		return m.uncertain(err)
	}
	return m.written()
}

// written syncs the directory after an entry changed.
func (m *making) written() error {
	if err := m.ground.sync(); err != nil {
		return m.uncertain(err)
	}
	return nil
}

// emptied turns the system's error for a directory that is not empty into [errNotEmpty].
func emptied(err error) error {
	if isNotEmpty(err) {
		return errNotEmpty
	}
	return err
}

func (m *making) chmod(was Info, mode uint32) error {
	if err := m.unchanged(was); err != nil {
		return err
	}
	if err := m.chmodAt(m.base, mode); err != nil {
		return err
	}
	return m.ground.sync()
}

// chmodAt sets the mode of an entry that is not a link.
func (m *making) chmodAt(name string, mode uint32) error {
	fd, err := openat(m.ground.fd, name, openFile)
	if errors.Is(err, unix.EACCES) { // the host may own it, and yet not open it
		return again(func() error { return unix.Fchmodat(m.ground.fd, name, mode, unix.AT_SYMLINK_NOFOLLOW) })
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written through it
	if err := again(func() error { return unix.Fchmod(fd, mode) }); err != nil {
		return err
	}
	err = m.calls.sync(fd)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EBADF) {
		return nil // the file system cannot sync it
	}
	return err
}

// discard closes what is open. With undo it also removes what was made and not committed.
func (m *making) discard(undo bool) error {
	if !undo {
		m.release()
		return nil
	}
	if m.ground.fd >= 0 && m.fd < 0 && m.temp != "" && unix.Unlinkat(m.ground.fd, m.temp, unix.AT_REMOVEDIR) == nil {
		m.temp = "" // it was a directory
	}
	return m.staging.discard()
}
