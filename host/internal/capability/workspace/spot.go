package workspace

import (
	"io"

	"github.com/toolquay/toolquay/abi"
)

// Spot is a path at which something of any kind is to lie, or nothing any more: a file, a
// directory or a symbolic link. It is for what a [Draft] is not, which writes regular files
// over regular files and keeps their attributes. No link is followed, neither on the way
// nor at the path. It is for one goroutine.
//
// A file has another name until Commit, as new content of a Draft has; a directory or link
// is made by Commit, under its own name where nothing lies.
type Spot struct {
	path string
	*making
	over bool
}

// NewSpot takes hold of the directory that a path lies in. Where makeDirs is set it makes
// those above it that are missing, which Discard takes away again.
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

// Lstat tells what lies at a path, and where it leads if it is a link: the zero Info is
// nothing. It fails with [abi.CodeChanged] where the directory that it lies in is not
// there, or lies behind a link.
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

// File is a file that gets its content; see [Draft].
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

// Take has a regular file that lies elsewhere on the same file system be what is put in
// place: it is moved.
func (s *Spot) Take(file string) error { return s.fault(s.take(file)) }

// Made is the path of a directory, link or file taken that was made, until Commit.
func (s *Spot) Made() (string, error) {
	path, err := s.temporary()
	return path, s.fault(err)
}

// Commit puts what was made in place of what was there, the zero Info being nothing;
// without anything that was made it removes what was there. A directory must be empty.
// Before something that was there goes for good, check is asked (nil is not): it may look
// closer. [abi.CodeChanged] is that it is not what was, and nothing has changed then. An
// error that wraps [ErrUncertain] says that it may be done all the same.
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

// SetMode gives what lies there other permission bits, if it is what it was.
func (s *Spot) SetMode(was Info, mode uint32) error { return s.fault(s.chmod(was, mode&0o777)) }

// Discard takes away what was not committed, and lets go.
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

// What names what lies at a path to people: "a socket".
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
