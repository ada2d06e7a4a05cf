package history

import (
	"io/fs"
	"os"
	"syscall"
)

// identity is the device, the inode and the time of the last change of anything.
func identity(info fs.FileInfo) (device, inode uint64, touched int64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	return uint64(st.Dev), st.Ino, st.Ctim.Nano() //nolint:unconvert // narrower on some machines
}

// openPlain opens what is perhaps a regular file, to read. It does not wait, and follows no link at the end.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
