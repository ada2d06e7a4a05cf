//go:build darwin || freebsd || netbsd

package discovery

import "syscall"

func times(st *syscall.Stat_t) (modified, changed syscall.Timespec) {
	return st.Mtimespec, st.Ctimespec
}
