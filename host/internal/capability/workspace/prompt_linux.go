//go:build linux && (amd64 || arm64)

package workspace

import (
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A search makes four calls of the system for each file. Around each of them Go hands
// its processor on if it takes long, and that costs a search a tenth of its time. So on
// file systems of this machine's disks the kernel is asked for what it can answer from
// memory, without waiting, and asked straight; where it would have to wait it says so,
// and is asked again as usual. A disk that hangs holds up nobody that way. Closing is as
// usual: the last to close a file that was deleted takes its blocks back.

// promptMagic are the file systems on which opening a file that is cached waits for
// nothing, and which can read without waiting.
var promptMagic = map[uint32]bool{
	unix.EXT4_SUPER_MAGIC:  true,
	unix.XFS_SUPER_MAGIC:   true,
	unix.BTRFS_SUPER_MAGIC: true,
}

// notPrompt is set once a system was met that cannot open without waiting: Linux before
// 5.12, a seccomp filter, or a scanner that has every opening wait for its word, which
// the kernel does not count as waiting.
var notPrompt atomic.Bool

// A scanner is met where so many openings took so long. It would hold up the whole
// process that often.
const (
	longOpening  = 10 * time.Millisecond
	longOpenings = 3
)

var tookLong atomic.Int32

// isPrompt reports whether files of a directory can be opened without waiting.
func isPrompt(dir int) bool {
	var s unix.Statfs_t
	return !notPrompt.Load() && unix.Fstatfs(dir, &s) == nil && promptMagic[magic(s.Type)]
}

// resolveCached is RESOLVE_CACHED of linux/openat2.h: fail rather than wait.
const resolveCached = 0x20

// maxName is the longest name that a directory of these systems has, in bytes.
const maxName = 255

// openPrompt opens an entry of the directory for reading, on its file system, of which all
// is in memory that this takes. It fails for any other, which may well be there.
func (d *Dir) openPrompt(name string) (fd int, info Info, ok bool) {
	var path [maxName + 1]byte
	if !d.prompt || len(name) > maxName || strings.IndexByte(name, 0) >= 0 || notPrompt.Load() {
		return -1, Info{}, false
	}
	copy(path[:], name)
	began := time.Now()
	how := unix.OpenHow{Flags: openFile | unix.O_CLOEXEC, Resolve: resolveCached | unix.RESOLVE_NO_XDEV}
	opened, _, errno := unix.RawSyscall6(unix.SYS_OPENAT2, uintptr(d.fd), uintptr(unsafe.Pointer(&path[0])),
		uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if time.Since(began) > longOpening && tookLong.Add(1) == longOpenings {
		notPrompt.Store(true)
	}
	if errno != 0 {
		if errno == unix.ENOSYS || errno == unix.EPERM || errno == unix.EINVAL {
			notPrompt.Store(true)
		}
		return -1, Info{}, false
	}
	var stat unix.Stat_t
	if _, _, errno := unix.RawSyscall(unix.SYS_FSTAT, opened, uintptr(unsafe.Pointer(&stat)), 0); errno != 0 {
		_ = unix.Close(int(opened))
		return -1, Info{}, false
	}
	return int(opened), infoOf(&stat), true
}

// readPrompt reads what is in memory; it is not done where that is nothing.
func (f *rawFile) readPrompt(b []byte) (n int, done bool) {
	if !f.prompt || len(b) == 0 || notPrompt.Load() {
		return 0, false
	}
	iov := unix.Iovec{Base: unsafe.SliceData(b)}
	iov.SetLen(len(b))
	const current = ^uintptr(0) // the file's own position
	read, _, errno := unix.RawSyscall6(unix.SYS_PREADV2, uintptr(f.fd), uintptr(unsafe.Pointer(&iov)), 1, current, 0, unix.RWF_NOWAIT)
	runtime.KeepAlive(b)
	// Linux 5.9 and 5.10 may answer 0 before the end of the file.
	return int(read), errno == 0 && read > 0
}
