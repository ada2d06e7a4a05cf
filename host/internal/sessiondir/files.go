package sessiondir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Temp makes an unfinished file in a subdirectory, which it makes too, for [Dir.Keep]. One
// that is left over is removed when the session directory is closed or opened again.
func (d *Dir) Temp(dir string) (*os.File, error) {
	path, err := d.dir(dir)
	if err != nil {
		return nil, err
	}
	return os.CreateTemp(path, temporary+"*") // 0600, and nothing that was there
}

// Keep gives a file of [Dir.Temp] its final name, and returns its path. It is
// closed, and forced to the disk, also where that fails: then it is removed.
func (d *Dir) Keep(file *os.File, name string) (string, error) {
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

// Write keeps a file in a subdirectory and returns its path. Readers see all of it or
// nothing; an earlier file of that name is replaced.
func (d *Dir) Write(dir, name string, write func(io.Writer) error) (string, error) {
	file, err := d.Temp(dir)
	if err != nil {
		return "", err
	}
	if err := write(file); err != nil {
		return "", errors.Join(fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err), file.Close(), os.Remove(file.Name()))
	}
	return d.Keep(file, name)
}

// dir makes a subdirectory where it is missing, and returns its path.
func (d *Dir) dir(name string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.make(); err != nil {
		return "", err
	}
	path := filepath.Join(d.path, name)
	if err := privatedir.Make(path); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, nil
}
