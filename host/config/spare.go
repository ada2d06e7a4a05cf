package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// Probe writes a file to State to find out whether it can be written. If not, it sets
// StateError and looks for a Spare: toolquay in XDG_RUNTIME_DIR, or a directory of this
// user's in the temporary directory. A spare directory must belong to the user and be
// closed to others. If there is none, Spare stays empty and StateError says why.
func (d *Dirs) Probe() {
	if d.StateError = makeWritable(d.State, os.MkdirAll); d.StateError == nil {
		return
	}
	spares := []string{filepath.Join(os.TempDir(), "toolquay-state-"+strconv.Itoa(os.Getuid()))}
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		spares = append([]string{filepath.Join(runtime, "toolquay")}, spares...)
	}
	for _, dir := range spares {
		err := makeWritable(dir, func(dir string, _ os.FileMode) error { return privatedir.Make(dir) })
		if err == nil {
			d.Spare = dir
			return
		}
		d.StateError = fmt.Errorf("%w; %s cannot take its place: %w", d.StateError, dir, err)
	}
}

// CheckWritable writes a file to a directory to find out whether it can be written. If the
// directory is missing, it tries the nearest parent that exists.
func CheckWritable(dir string) error {
	for dir != filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return write(dir)
}

// makeWritable makes a directory and writes a file to it.
func makeWritable(dir string, mkdir func(string, os.FileMode) error) error {
	if dir == "" {
		return errors.New("neither HOME nor its XDG variable is set")
	}
	if err := mkdir(dir, 0o700); err != nil {
		return err
	}
	return write(dir)
}

// write makes a file in a directory and removes it.
func write(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
