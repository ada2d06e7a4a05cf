//go:build unix && !solaris && !aix

package settings

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group that it had.
func keepOwner(path string, was fs.FileInfo) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	old, ok := was.Sys().(*syscall.Stat_t)
	now, same := info.Sys().(*syscall.Stat_t)
	if !ok || !same || old.Uid == now.Uid && old.Gid == now.Gid {
		return nil
	}
	return os.Lchown(path, int(old.Uid), int(old.Gid))
}
