package storage

import (
	"io/fs"
	"syscall"
)

// held returns how many bytes a file takes on the disk.
func held(info fs.FileInfo) int64 {
	const block = 512
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * block
	}
	return info.Size()
}

// freeAt returns the free bytes on the disk of a directory; 0 if that is not known.
func freeAt(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0
	}
	return int64(s.Bavail) * s.Bsize
}
