package discovery

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/toolquay/toolquay/abi"
)

func readDir(fsys fs.FS) ([]string, error) {
	dir, err := fsys.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // it was only read
	next, err := namesIn(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for {
		some, err := next(maxEntries)
		names = append(names, some...)
		switch {
		case errors.Is(err, io.EOF):
			slices.Sort(names)
			return names, nil
		case err != nil:
			return nil, err
		case len(names) > maxEntries:
			return nil, fmt.Errorf("it has more than %d entries", maxEntries)
		}
	}
}

// namesIn returns what reads a directory's names.
func namesIn(dir fs.File) (func(n int) ([]string, error), error) {
	switch dir := dir.(type) {
	case interface{ Readdirnames(n int) ([]string, error) }: // which asks for no more
		return dir.Readdirnames, nil
	case fs.ReadDirFile:
		return func(n int) ([]string, error) {
			entries, err := dir.ReadDir(n)
			names := make([]string, len(entries))
			for i, e := range entries {
				names[i] = e.Name()
			}
			return names, err
		}, nil
	}
	return nil, errors.New("it is not a directory")
}

// isFolder follows links: a user may well link a plugin into place.
func isFolder(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

// isThere reports whether there is something of that name, be it only something
// that may not be looked at.
func isThere(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// checkFile reports why a file cannot be read, or its stamp. It asks before
// anything is opened, because opening a FIFO waits.
func checkFile(fsys fs.FS, name string, limit int64) (Stamp, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return Stamp{}, err
	case !info.Mode().IsRegular():
		return Stamp{}, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > limit:
		return Stamp{}, overLimit(name, limit)
	}
	return stampOf(info), nil
}

func overLimit(name string, limit int64) error {
	return fmt.Errorf("%s is over the limit of %s", name, abi.Size(limit))
}

// readFile reads a regular file of at most limit bytes, and its stamp. A file that changes
// meanwhile is an error.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, Stamp, error) {
	if _, err := checkFile(fsys, name, limit); err != nil {
		return nil, Stamp{}, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, Stamp{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	before, err := f.Stat()
	if err != nil {
		return nil, Stamp{}, err
	}
	content, err := readAll(f, min(before.Size(), limit), limit)
	if err != nil {
		return nil, Stamp{}, err
	}
	if int64(len(content)) > limit {
		return nil, Stamp{}, overLimit(name, limit)
	}
	after, err := f.Stat()
	if err == nil && stampOf(after) != stampOf(before) {
		err = fmt.Errorf("%s was changed while it was read; try again", name)
	}
	return content, stampOf(before), err
}

// readAll reads to the end, or one byte past limit, of what is about size long.
func readAll(r io.Reader, size, limit int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(r, limit+1))
	return b.Bytes(), err
}

// maxEntries is how many entries a plugin directory may have.
const maxEntries = 10_000
