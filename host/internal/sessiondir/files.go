package sessiondir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// temporary begins the names of files that are not whole yet.
const temporary = ".tmp-"

// Temp makes a file of a directory of the folder's that is not whole yet, for
// [Folder.Keep]. One that is left is removed when the folder is closed, or opened
// again.
func (f *Folder) Temp(dir string) (*os.File, error) {
	path, err := f.dir(dir)
	if err != nil {
		return nil, err
	}
	return os.CreateTemp(path, temporary+"*") // 0600, and nothing that was there
}

// Keep gives a file that [Folder.Temp] made its name, and returns its path. It is
// closed, and forced to the disk, also where that fails: then it is removed.
func (f *Folder) Keep(file *os.File, name string) (string, error) {
	path := filepath.Join(filepath.Dir(file.Name()), name)
	err := file.Sync()
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err == nil {
		err = atomicfile.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = os.Remove(file.Name()) // it may have its name by now
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	return path, nil
}

// Write keeps a file in a directory of the folder's, and returns its path. Who reads
// it sees all of it; one of that name that was there is replaced.
func (f *Folder) Write(dir, name string, write func(io.Writer) error) (string, error) {
	file, err := f.Temp(dir)
	if err != nil {
		return "", err
	}
	if err := write(file); err != nil {
		return "", errors.Join(fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err), file.Close(), os.Remove(file.Name()))
	}
	return f.Keep(file, name)
}

// dir makes sure that a directory of the folder's is there.
func (f *Folder) dir(name string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.make(); err != nil {
		return "", err
	}
	path := filepath.Join(f.path, name)
	if err := privatedir.Make(path); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, nil
}

// removeTemporary takes away what was not written to its end. The folder is ours.
func (f *Folder) removeTemporary() {
	dirs, err := os.ReadDir(f.path)
	if err != nil {
		return // it is tried again
	}
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		path := filepath.Join(f.path, dir.Name())
		files, err := os.ReadDir(path)
		if err != nil {
			continue
		}
		for _, file := range files {
			if file.Type().IsRegular() && strings.HasPrefix(file.Name(), temporary) {
				_ = os.Remove(filepath.Join(path, file.Name()))
			}
		}
	}
}
