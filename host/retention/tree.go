package retention

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// walk goes through what lies at a path, as far as it can be read. It follows no links.
func walk(root *os.Root, path string, do func(path string, info fs.FileInfo)) {
	_ = fs.WalkDir(root.FS(), filepath.ToSlash(path), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // the rest is looked at
		}
		if info, err := entry.Info(); err == nil {
			do(filepath.FromSlash(path), info)
		}
		return nil
	})
}

// sizeOf is the size of the files at a path.
func sizeOf(root *os.Root, path string) (bytes int64) {
	walk(root, path, func(_ string, info fs.FileInfo) {
		if info.Mode().IsRegular() {
			bytes += info.Size()
		}
	})
	return bytes
}

// newest is when a file at a path was last changed, or the directory itself where there is no
// file in it.
func newest(root *os.Root, path string) (last time.Time) {
	walk(root, path, func(_ string, info fs.FileInfo) {
		if info.Mode().IsRegular() && info.ModTime().After(last) {
			last = info.ModTime()
		}
	})
	if info, err := root.Lstat(path); err == nil && last.IsZero() {
		last = info.ModTime()
	}
	return last
}
