package privatedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// fileMode is that of files that are made.
const fileMode = 0o600

// OpenOwn opens a file as [OpenRegular] does. What is there must be the user's own,
// and nobody else may be able to write to it.
func OpenOwn(path string, flags int) (*os.File, fs.FileInfo, error) {
	f, info, err := OpenRegular(path, flags)
	if err != nil {
		return nil, nil, err
	}
	if err := checkOwn(info, "0600"); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, info, nil
}

// OpenRegular opens a regular file, with the flags of [os.OpenFile]; one that is
// made is for the user alone. It follows no link and waits for no FIFO: what lies at
// the path is looked at first, and the file that was opened must be the one that was
// looked at.
func OpenRegular(path string, flags int) (*os.File, fs.FileInfo, error) {
	before, err := os.Lstat(path)
	if err == nil && !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil && (flags&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	if before == nil {
		flags |= os.O_EXCL // nothing that was put there meanwhile
	}
	f, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, fileMode)
	if before == nil && errors.Is(err, fs.ErrExist) {
		return OpenRegular(path, flags&^(os.O_CREATE|os.O_EXCL)) // another process was first
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && before != nil && !os.SameFile(before, info) {
		err = fmt.Errorf("%s was replaced while it was opened", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}
