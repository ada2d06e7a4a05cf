package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/toolquay/toolquay/internal/stricttoml"
)

// errIrregular is what cannot be read as a file.
var errIrregular = errors.New("it is not a regular file")

// readTries is how often a file is read that changes meanwhile.
const readTries = 5

// readFile reads a settings file of at most [stricttoml.MaxSize] bytes, following
// links. A file that does not exist is no content and no error; a link to nothing
// is an error, as is all that is no regular file. It never waits on a FIFO or a
// device.
func readFile(path string) ([]byte, bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, false, errors.New("it is a link to nothing; mend or delete it")
		}
		return nil, false, nil
	}
	if err != nil {
		return nil, false, unwrapPath(err)
	}
	content, _, err := readOpened(path, info)
	return content, err == nil, err
}

// unwrapPath leaves away the path that the caller says anyway.
func unwrapPath(err error) error {
	if bad, ok := errors.AsType[*fs.PathError](err); ok {
		return bad.Err
	}
	return err
}

// readOpened reads the file that was seen at path, and returns what its handle
// says of it.
func readOpened(path string, seen fs.FileInfo) ([]byte, fs.FileInfo, error) {
	// Looking first spares devices the effects that opening them may have; the
	// flag keeps a FIFO put there meanwhile from blocking the open.
	if !seen.Mode().IsRegular() {
		return nil, nil, errIrregular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, unwrapPath(err)
	}
	defer f.Close()
	return readStill(f, readWhole)
}

// readStill reads a file that nobody changes meanwhile: what was torn could make
// sense, with rules missing.
func readStill(f *os.File, read func(*os.File) ([]byte, fs.FileInfo, error)) ([]byte, fs.FileInfo, error) {
	for range readTries {
		content, before, err := read(f)
		if err != nil {
			return nil, nil, err
		}
		after, err := f.Stat()
		if err != nil {
			return nil, nil, unwrapPath(err)
		}
		if after.Size() == int64(len(content)) && after.ModTime().Equal(before.ModTime()) {
			return content, after, nil
		}
	}
	return nil, nil, errors.New("it kept changing while it was read; try again")
}

// readWhole reads a file from its start, and what it was before.
func readWhole(f *os.File) ([]byte, fs.FileInfo, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, unwrapPath(err)
	case !info.Mode().IsRegular():
		return nil, nil, errIrregular
	case info.Size() > stricttoml.MaxSize:
		return nil, nil, fmt.Errorf("it has %d bytes, over the limit of %d", info.Size(), stricttoml.MaxSize)
	}
	content, err := io.ReadAll(io.NewSectionReader(f, 0, stricttoml.MaxSize+1))
	if err != nil {
		return nil, nil, unwrapPath(err)
	}
	if len(content) > stricttoml.MaxSize {
		return nil, nil, fmt.Errorf("it is over the limit of %d bytes", stricttoml.MaxSize)
	}
	return content, info, nil
}

// realName is where a path leads, as far as it exists.
func realName(path string) (string, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		dir, err := realName(filepath.Dir(path))
		return filepath.Join(dir, filepath.Base(path)), err
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is a link to nothing; mend or delete it", path)
	}
	return target, err
}
