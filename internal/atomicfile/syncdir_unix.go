//go:build unix

package atomicfile

import (
	"errors"
	"os"
)

// SyncDir forces the names in a directory to the disk.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
