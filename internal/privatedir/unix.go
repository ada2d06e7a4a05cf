//go:build unix

package privatedir

import (
	"fmt"
	"os"
	"syscall"
)

// Make makes sure that a directory is there, is the user's own, and is
// closed to everyone else.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, not to user %d", st.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("its mode is %v; it must be 0700", info.Mode().Perm())
	}
	return nil
}
