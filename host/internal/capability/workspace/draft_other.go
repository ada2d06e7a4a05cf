//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolquay/toolquay/abi"
)

// errQuota is for systems that say when a user's share of a disk is used up.
var errQuota = errors.New("the disk quota is used up")

// staging is the content of a draft, in a file with a temporary name, until it is in
// place.
type staging struct {
	root *os.Root // the directory that the draft is for
	real string
	base string
	temp string
	file *os.File
	made []string // directories that were made, the topmost first
}

func stage(n *Node) (*staging, error) {
	if n.Exists() && n.Info.Mode&0o200 == 0 {
		return nil, abi.Errorf(abi.CodeIO, "%s is read-only, so it was not written; a person can change that", n.Target)
	}
	s := &staging{real: n.Real, base: filepath.Base(n.Real)}
	err := s.hold(!n.Exists())
	if err == nil {
		err = s.unchanged(n.Info)
	}
	if err == nil {
		err = s.open(n)
	}
	if err != nil {
		return nil, joinLeft(err, s.discard())
	}
	return s, nil
}

// hold opens the directory that the real path names, and makes what is missing.
func (s *staging) hold(makeMissing bool) error {
	dir := filepath.Dir(s.real)
	if makeMissing {
		if err := s.makeDirs(dir); err != nil {
			return err
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err != nil || !strings.EqualFold(real, dir) {
		return errReplaced
	}
	var err error
	s.root, err = os.OpenRoot(dir)
	return err
}

func (s *staging) makeDirs(dir string) error {
	var missing []string
	for ; ; dir = filepath.Dir(dir) {
		_, err := os.Lstat(dir)
		if err == nil || dir == filepath.Dir(dir) {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, dir)
	}
	for _, dir := range slices.Backward(missing) {
		err := os.Mkdir(dir, 0o777)
		switch {
		case err == nil:
			s.made = append(s.made, dir)
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return nil
}

func (s *staging) open(n *Node) error {
	mode := fs.FileMode(0o666)
	if n.Exists() {
		mode = fs.FileMode(n.Info.Mode).Perm()
	}
	name := tempName(s.base)
	f, err := s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	s.file, s.temp = f, name
	return nil
}

func (s *staging) write(p []byte) (int, error) { return s.file.Write(p) }

func (s *staging) sync() error { return s.file.Sync() }

func (s *staging) setMode(mode uint32) error { return s.file.Chmod(fs.FileMode(mode)) }

func (s *staging) readAt(p []byte, off int64) (int, error) { return s.file.ReadAt(p, off) }

// unchanged looks whether all is as it was.
func (s *staging) unchanged(was Info) error {
	fi, err := s.root.Lstat(s.base)
	if errors.Is(err, fs.ErrNotExist) {
		if was.Kind != "" {
			return errReplaced
		}
		return nil
	}
	if err != nil {
		return err
	}
	if was.Kind == "" || !infoOf(fi).still(was) {
		return errReplaced
	}
	return nil
}

// commit looks and then renames: what somebody writes in between is lost.
func (s *staging) commit(was Info) (Info, error) {
	err := s.file.Sync()
	if e := s.file.Close(); err == nil {
		err = e
	}
	s.file = nil
	if err != nil {
		return Info{}, err
	}
	fi, err := s.root.Lstat(s.temp)
	if err != nil {
		return Info{}, err
	}
	if err := s.unchanged(was); err != nil {
		return Info{}, err
	}
	if err := s.place(was); err != nil {
		return Info{}, err
	}
	if now, err := s.root.Lstat(s.base); err == nil {
		fi = now
	}
	s.temp, s.made = "", nil
	_ = s.root.Close() // nothing was written through it
	s.root = nil
	return infoOf(fi), nil
}

// place gives the content its name: over what was, or where nothing is.
func (s *staging) place(was Info) error {
	if was.Kind == "" {
		err := s.root.Link(s.temp, s.base) // it replaces nothing
		switch {
		case err == nil:
			_ = s.root.Remove(s.temp) // it has its own name now
			return nil
		case errors.Is(err, fs.ErrExist):
			return errReplaced
		}
	}
	err := s.root.Rename(s.temp, s.base)
	if errors.Is(err, syscall.EISDIR) {
		return errReplaced
	}
	return err
}

// discard takes away what there is of the draft.
func (s *staging) discard() error {
	var left error
	if s.file != nil {
		_ = s.file.Close() // nobody wants what was written
	}
	if s.temp != "" {
		left = s.root.Remove(s.temp)
	}
	for _, dir := range slices.Backward(s.made) {
		_ = os.Remove(dir) // what came to lie in it stays
	}
	if s.root != nil {
		_ = s.root.Close() // nothing was written through it
	}
	s.file, s.root, s.temp, s.made = nil, nil, "", nil
	return left
}
