//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// maxExchanges is how often a name is given back to somebody who writes it at the
// same time, before what came out of it is left under another name.
const maxExchanges = 16

func (s *staging) commit(was Info) (Info, error) {
	if err := s.sync(); err != nil {
		return Info{}, err
	}
	mine, err := fstat(s.fd)
	if err != nil {
		return Info{}, err
	}
	if err := s.unchanged(was); err != nil {
		return Info{}, err
	}
	if was.Kind == "" {
		err = s.create(mine)
	} else {
		err = s.replace(was, mine)
	}
	if err != nil {
		return Info{}, err
	}
	if now, err := fstat(s.fd); err == nil {
		mine = now
	}
	s.release()
	return mine, nil
}

// release lets go of everything and takes nothing away. The content was written out
// to the disk, so that closing it has nothing to tell.
func (s *staging) release() {
	s.close()
	s.ground.close()
}

// unchanged checks, while that costs nobody anything, that all is as it was. The
// change time tells of more than the checks after an exchange can see.
func (s *staging) unchanged(was Info) error {
	if err := s.ground.stays(); err != nil {
		return err
	}
	now, err := fstatat(s.ground.fd, s.base)
	switch {
	case errors.Is(err, unix.ENOENT):
		if was.Kind != "" {
			return errReplaced
		}
		return nil
	case err != nil:
		return err
	case was.Kind == "" || !now.still(was) || !now.ChangeTime.Equal(was.ChangeTime):
		return errReplaced
	}
	return nil
}

// create gives the content a name that nothing has.
func (s *staging) create(mine Info) error {
	var err error
	if s.temp == "" {
		err = s.calls.link(s.fd, s.ground.fd, s.base)
	} else if err = s.ground.move(s.temp, s.base); err == nil {
		s.temp = ""
	}
	if errors.Is(err, unix.EEXIST) {
		return errReplaced
	}
	if err != nil {
		return err
	}
	if err := s.ground.sync(); err != nil {
		return s.withdraw(mine, err)
	}
	return nil
}

// withdraw takes a new file away again, which nobody may have written to.
func (s *staging) withdraw(mine Info, cause error) error {
	name := tempName(s.base)
	if err := s.ground.move(s.base, name); err != nil {
		return s.uncertain(joinLeft(cause, err))
	}
	now, err := fstatat(s.ground.fd, name)
	if err == nil && now.still(mine) {
		s.temp = name // to be discarded
		return cause
	}
	if err := s.ground.move(name, s.base); err != nil {
		return s.kept(name, cause, err)
	}
	return s.uncertain(cause)
}

// uncertain is the error of a commit that put the content in place, which the system
// may not have written out to the disk.
func (s *staging) uncertain(err error) error {
	return abi.Errorf(abi.CodeIO, "%s has its new content, but that may be lost if the machine stops: %w", filepath.Join(s.ground.path, s.base), &uncertainError{err})
}

// replace swaps the content with what is there, looks at what came out, and removes
// that only if it is what was and the new content is on the disk.
func (s *staging) replace(was, mine Info) error {
	if err := s.name(); err != nil {
		return err
	}
	dir := s.ground.fd
	err := s.calls.exchange(dir, s.temp, s.base)
	switch {
	case incapable(err):
		return s.rename(was)
	case errors.Is(err, unix.ENOENT):
		return errReplaced
	case err != nil:
		return err
	}
	out, err := fstatat(dir, s.temp)
	if err == nil && !out.still(was) {
		err = errReplaced
	}
	if err == nil {
		err = s.ground.sync()
	}
	if err == nil {
		err = s.drop(out)
	}
	if err != nil {
		return s.putBack(mine, out, err)
	}
	s.temp = ""
	return nil
}

// drop removes what an exchange moved to the temporary name, described by out.
func (s *staging) drop(out Info) error {
	if out.Kind == abi.KindDirectory {
		return emptied(unix.Unlinkat(s.ground.fd, s.temp, unix.AT_REMOVEDIR))
	}
	return s.calls.unlink(s.ground.fd, s.temp)
}

// name gives the content a temporary name.
func (s *staging) name() error {
	if s.temp != "" {
		return nil
	}
	name := tempName(s.base)
	if err := s.calls.link(s.fd, s.ground.fd, name); err != nil {
		return err
	}
	s.temp = name
	return nil
}

// rename puts the content in place where names cannot be exchanged: what somebody
// writes between the look and the rename is lost.
func (s *staging) rename(was Info) error {
	now, err := fstatat(s.ground.fd, s.base)
	if err != nil || !now.still(was) {
		return errReplaced
	}
	err = s.calls.rename(s.ground.fd, s.temp, s.base)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOTDIR) { // only one of the two is a directory
		if err = s.clear(was); err == nil {
			err = s.calls.rename(s.ground.fd, s.temp, s.base)
		}
	}
	if err != nil {
		return err
	}
	s.temp = ""
	if err := s.ground.sync(); err != nil {
		return s.uncertain(err)
	}
	return nil
}

// clear removes what lies under the final name, described by was.
func (s *staging) clear(was Info) error {
	if was.Kind == abi.KindDirectory {
		return emptied(unix.Unlinkat(s.ground.fd, s.base, unix.AT_REMOVEDIR))
	}
	return s.calls.unlink(s.ground.fd, s.base)
}

// putBack undoes an exchange that put mine under the name and took out what is now
// under the temporary one.
//
// Somebody may write the name all the while. What came out is given back, and what
// comes out in exchange must be what was put there: then nobody was in between, and
// what is left over was superseded before. It is deleted if it is mine and untouched,
// and else kept, because another wrote it.
func (s *staging) putBack(mine, out Info, cause error) error {
	put := mine
	for range maxExchanges {
		err := s.calls.exchange(s.ground.fd, s.temp, s.base)
		if errors.Is(err, unix.ENOENT) { // the name was taken away meanwhile
			if err = s.ground.move(s.temp, s.base); err == nil {
				s.temp = ""
				return cause
			}
			if errors.Is(err, unix.EEXIST) {
				continue
			}
		}
		if err != nil {
			return s.kept(s.temp, cause, err)
		}
		back, err := fstatat(s.ground.fd, s.temp)
		if err != nil {
			return s.kept(s.temp, cause, err)
		}
		if back.still(put) {
			if back.still(mine) {
				return cause
			}
			return s.kept(s.temp, cause, errReplaced)
		}
		put, out = out, back
	}
	return s.kept(s.temp, cause, errReplaced)
}

// kept is the error of a commit that leaves under a temporary name what it must not
// delete.
func (s *staging) kept(name string, cause, why error) error {
	s.temp = ""
	path := filepath.Join(s.ground.path, name)
	code := abi.CodeIO
	if errors.Is(cause, errReplaced) {
		code = abi.CodeChanged
	}
	return abi.Errorf(code, "%s: %w; it could not be put back as it was (%w), so what was taken from there is kept as %s: look at both", filepath.Join(s.ground.path, s.base), cause, &uncertainError{why}, path)
}
