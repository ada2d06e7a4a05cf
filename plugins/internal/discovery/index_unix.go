//go:build unix

package discovery

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownFile checks that only the user can have written a file.
func ownFile(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, not to user %d", st.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("its mode is %v: others may write to it", info.Mode().Perm())
	}
	return nil
}
