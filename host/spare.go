package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// Probe finds out, by writing, whether State can be written. If not, it sets StateError
// and looks for a directory to be Spare: toolquay in XDG_RUNTIME_DIR, or a directory of
// this user's among the temporary files. A spare directory must be the user's own and
// closed to others. Where none can be had, Spare stays empty.
func (d *Dirs) Probe() {
	if d.StateError = writable(d.State, os.MkdirAll); d.StateError == nil {
		return
	}
	spares := []string{filepath.Join(os.TempDir(), "toolquay-state-"+strconv.Itoa(os.Getuid()))}
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		spares = append([]string{filepath.Join(runtime, "toolquay")}, spares...)
	}
	for _, dir := range spares {
		err := writable(dir, func(dir string, _ os.FileMode) error { return privatedir.Make(dir) })
		if err == nil {
			d.Spare = dir
			return
		}
		d.StateError = fmt.Errorf("%w; %s cannot take its place: %w", d.StateError, dir, err)
	}
}

// CheckWritable finds out, by writing, whether files can be made in a directory or, where
// it is not there yet, in the directory that it would be made in.
func CheckWritable(dir string) error {
	for dir != filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return write(dir)
}

// writable makes a directory, and writes to it.
func writable(dir string, mkdir func(string, os.FileMode) error) error {
	if dir == "" {
		return errors.New("neither HOME nor its XDG variable is set")
	}
	if err := mkdir(dir, 0o700); err != nil {
		return err
	}
	return write(dir)
}

// write makes a file in a directory, and removes it.
func write(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// kept is the directory for what a run writes. It is empty where there is none.
func (d Dirs) kept() string {
	if d.StateError != nil {
		return d.Spare
	}
	return d.State
}
