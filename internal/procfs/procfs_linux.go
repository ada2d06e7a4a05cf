package procfs

import (
	"errors"
	"os"
)

var errMissing = errors.New("/proc is not mounted: mount it (mount -t proc proc /proc), or start this container or jail with it (for bubblewrap: --proc /proc)")

// Check returns an error that says what to do where /proc is not mounted.
func Check() error {
	if _, err := os.Lstat("/proc/self/exe"); err != nil {
		return errMissing
	}
	return nil
}
