package history

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// spot is what was found at a path: its metadata, and a descriptor by which it can be opened even if something else
// is put at the path. The zero value means that nothing was there.
type spot struct {
	file *os.File
	info fs.FileInfo
}

// at finds out what is at a path, as the command sees it.
func (w *Watch) at(path string) (spot, error) { return spotOf(w.look(path)) }

func spotOf(f *os.File, err error) (spot, error) {
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return spot{}, nil
	case err != nil:
		return spot{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return spot{}, errors.Join(err, f.Close())
	}
	return spot{f, info}, nil
}

func (s spot) close() {
	if s.file != nil {
		_ = s.file.Close() // it was only looked at
	}
}

// open opens a regular file or a directory for reading. It does not block.
func (s spot) open() (*os.File, error) {
	if mode := s.info.Mode(); !mode.IsRegular() && !mode.IsDir() {
		return nil, fs.ErrInvalid
	}
	return reopen(s.file)
}

// node returns what was found; a regular file has no hash.
func (s spot) node() *changes.Node {
	mode := s.info.Mode()
	switch {
	case mode.IsRegular():
		return &changes.Node{Size: s.info.Size(), Mode: uint32(mode.Perm())}
	case mode.IsDir():
		return &changes.Node{Kind: changes.Dir, Mode: uint32(mode.Perm())}
	case mode&fs.ModeSymlink != 0:
		return &changes.Node{Kind: changes.Link, Target: changes.Name(targetOf(s.file))}
	}
	return &changes.Node{Kind: changes.Other, What: mode.Type().String()}
}

func isLoop(err error) bool { return errors.Is(err, syscall.ELOOP) }
