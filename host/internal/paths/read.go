package paths

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// maxBeginning bounds how much is read of a configuration file.
const maxBeginning = 1 << 20

// Beginning reads the first mebibyte of a regular file, as a [permissions.Read]. It opens
// nothing that would block.
func Beginning(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, os.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(f, maxBeginning))
}

// Names lists the names in a directory, as a [permissions.List].
func Names(dir string) ([]string, error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a FIFO
	if err != nil {
		return nil, NotDirectory(err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	return names, NotDirectory(err)
}

// Links lists the names in a directory that are symbolic links.
func Links(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, entry := range entries {
		if entry.Type()&fs.ModeSymlink != 0 {
			names = append(names, entry.Name())
		}
	}
	return names, NotDirectory(err)
}

// NotDirectory turns every error that means that there is no such directory into
// [fs.ErrNotExist], and returns others as they are.
func NotDirectory(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ELOOP) {
		return fs.ErrNotExist
	}
	return err
}
