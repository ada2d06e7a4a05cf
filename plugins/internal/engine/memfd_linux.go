package engine

import "golang.org/x/sys/unix"

// newFile puts content into a sealed file in memory. It returns -1 where the system
// has none.
func newFile(content []byte) int {
	fd, err := unix.MemfdCreate("toolquay-snapshot", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if err = writeSparse(fd, content); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1
	}
	return fd
}

// writeSparse leaves out pages that are zero.
func writeSparse(fd int, content []byte) error {
	if err := unix.Ftruncate(fd, int64(len(content))); err != nil {
		return err
	}
	for at := 0; at < len(content); at += pageSize {
		page := content[at:min(at+pageSize, len(content))]
		for done := 0; done < len(page) && !isZero(page); {
			n, err := unix.Pwrite(fd, page[done:], int64(at+done))
			if err != nil {
				return err
			}
			done += n
		}
	}
	return nil
}
