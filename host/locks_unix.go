//go:build unix

package host

import (
	"fmt"
	"os"
	"syscall"
)

// linkedFile is the name under which a file that has several names is locked, besides
// the one it was called by.
func linkedFile(path string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Nlink < 2 {
		return "", false
	}
	return fmt.Sprintf("//inode/%d/%d", stat.Dev, stat.Ino), true
}
