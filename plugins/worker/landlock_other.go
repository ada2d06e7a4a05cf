//go:build !linux

package worker

import (
	"errors"
	"fmt"
	"runtime"
)

// fence fails: there is none for files on this system.
func fence(string) error {
	return fmt.Errorf("there is no fence for files on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
