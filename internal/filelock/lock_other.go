//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"os"
)

// openFlags are further flags for opening a lock file.
const openFlags = 0

// Try cannot order processes on this system.
func Try(*os.File) error { return errors.ErrUnsupported }

// Unlock has nothing to let go of.
func Unlock(*os.File) {}
