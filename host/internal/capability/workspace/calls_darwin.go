package workspace

import "golang.org/x/sys/unix"

// syncFile asks the disk, too, to write out what it holds back. File systems that
// cannot ask are synced as elsewhere.
func syncFile(fd int) error {
	err := again(func() error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
		return err
	})
	if err != nil {
		err = again(func() error { return unix.Fsync(fd) })
	}
	return err
}

func exchange(dir int, a, b string) error {
	return unix.RenameatxNp(dir, a, dir, b, unix.RENAME_SWAP)
}

func move(dir int, from, to string) error {
	return unix.RenameatxNp(dir, from, dir, to, unix.RENAME_EXCL)
}
