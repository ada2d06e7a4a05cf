//go:build unix

package paths

import (
	"fmt"
	"os"
	"syscall"
)

// HardLinked reports whether a regular file has several names, and returns a name for the
// file itself, which all of them have in common. The name is no path of a file.
func HardLinked(path string) (file string, several bool) {
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
