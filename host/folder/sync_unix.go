//go:build unix

package folder

import (
	"errors"
	"os"
)

// syncDir forces the names in a directory to the disk.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
