package workspace

import (
	"io"

	"github.com/toolquay/toolquay/abi"
)

// Spot puts something at a path or removes what is there: a file, a directory or a symbolic
// link. It is for changes that a [Draft] cannot make: a Draft writes a regular file over a
// regular file and keeps its attributes. No link is followed, neither on the way nor at the
// path. It is for one goroutine.
//
// A file has a temporary name until Commit, as with a Draft. If the path is free, Commit
// makes a directory or link directly under its own name.
type Spot struct {
	path string
	*making
	over bool
}

// NewSpot opens the directory that a path lies in. With makeDirs it makes missing directories
// above, which Discard removes again.
func NewSpot(path string, makeDirs bool) (*Spot, error) {
	if err := refusePath(path, path); err != nil {
		return nil, err
	}
	if makeDirs {
		announce(path)
	}
	m, err := begin(path, makeDirs)
	if err != nil {
		return nil, writeFault(path, err)
	}
	return &Spot{path: path, making: m}, nil
}

// Lstat returns the metadata of what lies at a path, and the target if it is a link. The
// zero Info is nothing. It fails with [abi.CodeChanged] if the directory above is missing
// or lies behind a link.
func Lstat(path string) (Info, string, error) {
	if err := refusePath(path, path); err != nil {
		return Info{}, "", err
	}
	info, target, err := lookAt(path)
	if err != nil {
		return Info{}, "", fault(path, err)
	}
	return info, target, nil
}

// File is a new file that is being written; see [Draft].
type File interface {
	io.Writer
	Skip(n int64) error
	Fd() uintptr
}

// MakeFile makes a regular file with permission bits, and the content that fill gives it.
func (s *Spot) MakeFile(fill func(f File) error, mode uint32) error {
	return s.fault(s.makeFile(fill, mode&0o777))
}

// MakeDir makes an empty directory with permission bits; 0 are those of new directories.
func (s *Spot) MakeDir(mode uint32) error { return s.fault(s.makeDir(mode & 0o777)) }

// MakeLink makes a symbolic link.
func (s *Spot) MakeLink(target string) error { return s.fault(s.makeLink(target)) }

// Take moves a regular file from elsewhere on the same file system, which Commit puts in
// place.
func (s *Spot) Take(file string) error { return s.fault(s.take(file)) }

// Made is the path, until Commit, of the directory or link that was made or the file that
// was taken.
func (s *Spot) Made() (string, error) {
	path, err := s.temporary()
	return path, s.fault(err)
}

// Commit replaces was, which is what was there before, by what was made, or removes it if
// nothing was made. The zero Info is nothing. A directory that is replaced must be empty.
// Before something is lost for good, check is called unless it is nil: it may compare the
// content. The error has [abi.CodeChanged] if the path is no longer as was says; then nothing
// has changed. If the error wraps [ErrUncertain], the change may have been made.
func (s *Spot) Commit(was Info, check func() error) error {
	if s.over {
		return abi.Errorf(abi.CodeInternal, "the change of %s has already ended", s.path)
	}
	s.over = true
	announce(s.path)
	err := s.commit(was, check)
	if left := s.discard(err != nil); err != nil {
		return s.fault(joinLeft(err, left))
	}
	return nil
}

// SetMode changes the permission bits of what lies there, if it still is was.
func (s *Spot) SetMode(was Info, mode uint32) error { return s.fault(s.chmod(was, mode&0o777)) }

// Discard removes what was not committed, and closes the directory.
func (s *Spot) Discard() error {
	if s.over {
		return nil
	}
	s.over = true
	return s.fault(s.discard(true))
}

func (s *Spot) fault(err error) error {
	if err == nil {
		return nil
	}
	return writeFault(s.path, err)
}

// What describes what lies at a path to people, such as "a socket".
func (i Info) What() string {
	switch i.Kind {
	case abi.KindFile:
		return "a file"
	case abi.KindDirectory:
		return "a directory"
	case abi.KindSymlink:
		return "a symbolic link"
	case "":
		return "nothing"
	}
	return i.what
}
