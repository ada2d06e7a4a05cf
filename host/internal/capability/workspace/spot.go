package workspace

import (
	"io"

	"github.com/toolquay/toolquay/abi"
)

// Spot puts a file, a directory or a symbolic link at a path, or removes what is there. It
// makes the changes that a [Draft] cannot make: a Draft writes a regular file, over a regular
// file if there is one, whose attributes it keeps. No link is followed, neither on the way nor
// at the path. It is for one goroutine.
//
// A file has a temporary name until Commit, as with a Draft. If the path is free, Commit
// makes a directory or link directly under its final name.
type Spot struct {
	path string
	*making
	over bool
}

// NewSpot opens the directory of a path. With makeDirs it makes missing directories above the
// path, which Discard removes again.
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

// Lstat returns the metadata of the file, directory or link at a path, and a link's target. The
// zero Info means that nothing is there. It fails with [abi.CodeChanged] if a directory above is
// missing, or is a link.
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

// MakeFile makes a regular file with some permission bits, and the content that fill writes.
func (s *Spot) MakeFile(fill func(f File) error, mode uint32) error {
	return s.fault(s.makeFile(fill, mode&0o777))
}

// MakeDir makes an empty directory with some permission bits; 0 means the default ones.
func (s *Spot) MakeDir(mode uint32) error { return s.fault(s.makeDir(mode & 0o777)) }

// MakeLink makes a symbolic link.
func (s *Spot) MakeLink(target string) error { return s.fault(s.makeLink(target)) }

// Take moves a regular file here from elsewhere on the same file system. Commit puts it in place.
func (s *Spot) Take(file string) error { return s.fault(s.take(file)) }

// Made returns the path that the new directory or link, or the file from Take, has until Commit.
func (s *Spot) Made() (string, error) {
	path, err := s.temporary()
	return path, s.fault(err)
}

// Commit puts what was made in place of was, or removes was if nothing was made. was is what lay
// at the path before; the zero Info means nothing. A directory that is replaced or removed must be
// empty. Unless check is nil, it is called before a file or link is lost for good, and may compare
// the content. The error has [abi.CodeChanged] if the path no longer matches was; then
// nothing has changed. If the error wraps [ErrUncertain], the change may have been made.
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

// SetMode changes the permission bits of the file or directory at the path, if it still is was.
func (s *Spot) SetMode(was Info, mode uint32) error { return s.fault(s.chmod(was, mode&0o777)) }

// Discard removes what was made and not committed, and closes the directory.
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

// What describes a file in words, such as "a socket".
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
