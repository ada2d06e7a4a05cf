// Package atomicfile replaces files so that a reader, or a crash, sees the old
// content or the new, never a mix.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// temporary begins the names of files that are not whole yet.
const temporary = ".tmp-"

// IsTemporary reports whether a name is that of a file that is not whole yet, or that a process
// left which was killed.
func IsTemporary(name string) bool { return strings.HasPrefix(name, temporary) }

// Write puts content at path: into a temporary file beside it, synced, then
// renamed. On any error path is as it was.
func Write(path string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), temporary+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
