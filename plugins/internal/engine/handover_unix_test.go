//go:build unix

package engine

import (
	"os"
	"path/filepath"
	"syscall"
)

func init() {
	attacks["a pipe"] = spoiling{func(a attack) error {
		return replace(a.entry, func(file string) error { return syscall.Mkfifo(file, 0o600) })
	}, "which is not a file"}
	attacks["a link to another's entry"] = spoiling{func(a attack) error {
		return replace(a.entry, func(file string) error { return os.Symlink(a.victim, file) })
	}, "cannot be opened"}
	attacks["a link to another's directory"] = spoiling{func(a attack) error {
		return replace(filepath.Dir(a.entry), func(dir string) error { return os.Symlink(filepath.Dir(a.victim), dir) })
	}, "cannot be opened"}
}
