package workspace

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// holdDir are the flags that take hold of a directory.
const holdDir = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW

// hasProc reports whether the kernel's links to open files can be used.
var hasProc = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/self/fd")
	return err == nil
})

func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// openUnnamed needs the kernel's links as well: without them only root could give
// the file a name later.
func openUnnamed(dir int, mode uint32) (int, error) {
	if !hasProc() {
		return -1, unix.ENOSYS
	}
	return retry(func() (int, error) {
		return unix.Openat(dir, ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, mode)
	})
}

func linkUnnamed(fd, dir int, name string) error {
	return unix.Linkat(unix.AT_FDCWD, procPath(fd), dir, name, unix.AT_SYMLINK_FOLLOW)
}

func syncFile(fd int) error { return again(func() error { return unix.Fsync(fd) }) }

func exchange(dir int, a, b string) error {
	return unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
}

func move(dir int, from, to string) error {
	return unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
}
