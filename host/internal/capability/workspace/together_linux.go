package workspace

import (
	"sync"

	"golang.org/x/sys/unix"
)

// syncSystems syncs the file systems that hold the drafts. If one cannot be synced, its drafts stay unsynced, so that
// syncing them one by one reports the error.
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

// tellsWriteErrors reports whether syncfs reports write errors. It does since Linux 5.8, which also added faccessat2.
var tellsWriteErrors = sync.OnceValue(func() bool {
	return unix.Faccessat2(unix.AT_FDCWD, "/", unix.F_OK, unix.AT_EACCESS) != unix.ENOSYS
})
