//go:build unix

package privatedir

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Make makes sure that a directory is there, is the user's own, and is
// closed to everyone else.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return Check(dir)
}

// Check checks that a directory is the user's own and closed to everyone else.
func Check(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return checkOwn(info, "0700")
}

// checkOwn checks that something is the user's own and closed to everyone else.
func checkOwn(info fs.FileInfo, mode string) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, not to user %d", st.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("its mode is %v; it must be %s", info.Mode().Perm(), mode)
	}
	return nil
}
