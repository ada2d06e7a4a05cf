//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// making is the change of a [Spot] until it is committed.
type making struct{ staging }

func begin(path string, makeDirs bool) (*making, error) {
	m := &making{staging{real: path, base: filepath.Base(path)}}
	if err := m.hold(makeDirs); err != nil {
		return nil, joinLeft(err, m.staging.discard())
	}
	return m, nil
}

func lookAt(path string) (Info, string, error) {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Info{}, "", nil
	}
	if err != nil {
		return Info{}, "", err
	}
	if fi.Mode()&fs.ModeSymlink == 0 {
		return infoOf(fi), "", nil
	}
	target, err := os.Readlink(path)
	return infoOf(fi), target, err
}

func (m *making) makeFile(fill func(f File) error, mode uint32) error {
	name := tempName(m.base)
	f, err := m.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fs.FileMode(mode))
	if err != nil {
		return err
	}
	m.file, m.temp = f, name
	if err := fill(filling{&m.staging}); err != nil {
		return err
	}
	err = errors.Join(f.Sync(), f.Close())
	m.file = nil
	return err
}

// filling is the [File] that a [Spot] fills.
type filling struct{ *staging }

// Write implements [File].
func (f filling) Write(p []byte) (int, error) { return f.file.Write(p) }

// Skip implements [File].
func (f filling) Skip(n int64) error { return f.skip(n) }

// Fd implements [File].
func (f filling) Fd() uintptr { return f.handle() }

func (m *making) makeDir(mode uint32) error {
	if mode == 0 {
		mode = 0o777
	}
	name := tempName(m.base)
	err := m.root.Mkdir(name, fs.FileMode(mode))
	if err == nil {
		m.temp = name
	}
	return err
}

func (m *making) makeLink(target string) error {
	name := tempName(m.base)
	err := m.root.Symlink(target, name)
	if err == nil {
		m.temp = name
	}
	return err
}

func (m *making) take(file string) error {
	name := tempName(m.base)
	err := os.Rename(file, filepath.Join(filepath.Dir(m.real), name))
	if err == nil {
		m.temp = name
	}
	return err
}

func (m *making) temporary() (string, error) {
	return filepath.Join(filepath.Dir(m.real), m.temp), nil
}

// commit checks the path and then renames or removes: what another process writes there in between
// is lost.
func (m *making) commit(was Info, check func() error) error {
	if err := m.unchanged(was); err != nil {
		return err
	}
	if was.Kind != "" {
		if check != nil {
			if err := check(); err != nil {
				return err
			}
		}
		if err := m.root.Remove(m.base); err != nil {
			return err
		}
	}
	if m.temp == "" {
		return nil
	}
	if err := m.root.Rename(m.temp, m.base); err != nil {
		return err
	}
	m.temp = ""
	return nil
}

func (m *making) chmod(was Info, mode uint32) error {
	if err := m.unchanged(was); err != nil {
		return err
	}
	return m.root.Chmod(m.base, fs.FileMode(mode))
}

// discard closes what is open. With undo it also removes what was made and not committed.
func (m *making) discard(undo bool) error {
	if !undo {
		m.made = nil
	}
	return m.staging.discard()
}
