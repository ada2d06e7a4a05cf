//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// staging is the content of a draft until it is in place.
type staging struct {
	stagedFile
	ground *ground
	base   string // the name that the content is for
	temp   string // the name that it has meanwhile; empty for none
}

func stage(n *Node) (*staging, error) { return stageWith(n, system) }

func stageWith(n *Node, c calls) (*staging, error) {
	s := &staging{stagedFile: stagedFile{calls: c, fd: -1}, base: filepath.Base(n.Real)}
	var err error
	if s.ground, err = hold(n, &s.calls); err != nil {
		return nil, err
	}
	if n.Exists() {
		err = s.begin(n)
	} else {
		err = s.open(0o666) // the system takes off the umask, or uses the directory's ACL
	}
	if err != nil {
		return nil, joinLeft(err, s.discard())
	}
	return s, nil
}

// begin opens the new content of a file that exists.
func (s *staging) begin(n *Node) error {
	if err := s.refuseReadOnly(n); err != nil {
		return err
	}
	if err := s.open(0o600); err != nil {
		return err
	}
	return keepAttributes(n, s.ground.former, s.fd)
}

// open opens a file without a name if the file system has such, else one with a
// temporary name.
func (s *staging) open(mode uint32) error {
	var err error
	if s.fd, err = s.calls.unnamed(s.ground.fd, mode); err == nil {
		return nil
	}
	name := tempName(s.base)
	if s.fd, err = s.calls.named(s.ground.fd, name, mode); err == nil {
		s.temp = name
	}
	return err
}

// refuseReadOnly keeps a draft from replacing what a person made read-only. Root,
// who may write to everything, is held to the mode as well.
func (s *staging) refuseReadOnly(n *Node) error {
	if attribute, undo := fixed(n); attribute != "" {
		return abi.Errorf(abi.CodeIO, "%s is %s, so it was not written; a person can undo that (%s)", n.Target, attribute, undo)
	}
	err := error(unix.EACCES)
	if s.ground.former.Mode&0o222 != 0 {
		err = unix.Faccessat(s.ground.fd, s.base, unix.W_OK, unix.AT_EACCESS)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return abi.Errorf(abi.CodeIO, "%s is read-only for the host's user (mode %04o), so it was not written: %w; make it writable first (chmod u+w), or run the host as its owner", n.Target, s.ground.former.Mode, err)
	case errors.Is(err, unix.EROFS):
		return err
	}
	return nil // what else there may be is for Commit to see
}

// discard takes away what there is of the draft, and lets go of the rest.
func (s *staging) discard() error {
	s.close()
	var left error
	if s.temp != "" {
		if err := s.calls.unlink(s.ground.fd, s.temp); err != nil {
			left = fmt.Errorf("%s is left behind and can be removed: %w", filepath.Join(s.ground.path, s.temp), err)
		}
		s.temp = ""
	}
	if err := s.ground.remove(); left == nil {
		left = err
	}
	return left
}
