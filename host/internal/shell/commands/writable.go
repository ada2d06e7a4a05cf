package commands

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
)

// writable lists the directories that settings have commands write in. One that lies in
// another or in a working directory is writable with that: by its own path it could be a link
// of a command's by now, to anywhere.
func (r *Runner) writable(working []string) []string {
	all := r.options.Writable
	return slices.DeleteFunc(slices.Clone(all), func(dir string) bool {
		around := func(other string) bool { return other != dir && paths.Below(dir, other) }
		return slices.ContainsFunc(working, around) || slices.ContainsFunc(all, around)
	})
}

// openWritable makes such directories where they are missing. One that commands could not
// write in is an error: nothing is listed as writable and then not.
func (r *Runner) openWritable(dirs []string) error {
	for _, dir := range dirs {
		if err := r.openOne(dir); err != nil {
			return abi.Errorf(abi.CodeDenied, "the settings have commands write in %s ([sandbox] writable): %w", dir, err)
		}
	}
	r.tried.Store(true)
	return nil
}

// openOne makes one of them, and tries once whether it can be written.
func (r *Runner) openOne(dir string) error {
	if !filepath.IsAbs(dir) {
		return errors.New("the path is not absolute")
	}
	really := paths.Real(dir)
	system := func(dir string) bool { return paths.Below(really, dir) }
	if really == "" || slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, system) {
		return errors.New("it lies where the kernel shows itself or its devices, or cannot be found")
	}
	if home := r.options.Sandbox.Home; home != "" && paths.Below(paths.Real(home), really) {
		return errors.New("the home lies in it; name directories in the home instead")
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o700)
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("it is not a directory")
	case r.tried.Load():
		return nil
	}
	f, err := os.CreateTemp(dir, ".toolquay-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
