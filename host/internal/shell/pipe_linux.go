package shell

import (
	"os"

	"golang.org/x/sys/unix"
)

// widen makes a pipe larger where the system allows it. It works with any size.
func widen(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) }

// reserve finds room for a part of a file that is written next, which does not make the
// file longer. It may fail: then that is found when it is written.
func reserve(f *os.File, from, n int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, n)
}
