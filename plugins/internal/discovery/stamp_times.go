//go:build dragonfly || linux || openbsd

package discovery

import "syscall"

func times(st *syscall.Stat_t) (modified, changed syscall.Timespec) { return st.Mtim, st.Ctim }
