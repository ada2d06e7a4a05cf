package workspace

import (
	"sync"

	"golang.org/x/sys/unix"
)

// syncSystems writes out the file systems that drafts lie on. Where that fails each draft is still to be written
// out by itself, which says what is wrong.
func syncSystems(drafts []*Draft) {
	if !tellsWriteErrors() {
		return
	}
	systems := make(map[uint64]bool)
	for _, d := range drafts {
		var st unix.Stat_t
		if d.over || unix.Fstat(d.fd, &st) != nil {
			continue
		}
		done, ok := systems[st.Dev]
		if !ok {
			done = again(func() error { return unix.Syncfs(d.fd) }) == nil
			systems[st.Dev] = done
		}
		d.synced = d.synced || done
	}
}

// tellsWriteErrors reports whether syncfs fails where something could not be written: since Linux 5.8, which
// came with faccessat2.
var tellsWriteErrors = sync.OnceValue(func() bool {
	return unix.Faccessat2(unix.AT_FDCWD, "/", unix.F_OK, unix.AT_EACCESS) != unix.ENOSYS
})
