//go:build unix

package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// ownedByRoot refuses what anybody but the administrator could have written.
func ownedByRoot(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("who owns it cannot be told")
	}
	if st.Uid != 0 {
		return fmt.Errorf("it belongs to user %d; a policy and its directories must belong to root", st.Uid)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("its mode is %v; nobody but root may write to a policy and its directories", mode)
	}
	return nil
}
