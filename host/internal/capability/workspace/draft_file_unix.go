//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"io"

	"golang.org/x/sys/unix"
)

// maxWrite is the most that one system call writes: macOS refuses 2 GiB.
const maxWrite = 1 << 30

// stagedFile is the open file that holds the content of a draft.
type stagedFile struct {
	calls calls
	fd    int // -1 once it is closed
	// synced says that content and metadata were synced to the disk since the last change.
	synced bool
}

func (f *stagedFile) write(p []byte) (int, error) {
	f.synced = false
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+maxWrite)]
		n, err := retry(func() (int, error) { return f.calls.write(f.fd, part) })
		if n > 0 {
			done += n
		}
		if err != nil {
			return done, err
		}
		if n <= 0 {
			return done, io.ErrShortWrite
		}
	}
	return done, nil
}

// skip appends n zero bytes as a hole.
func (f *stagedFile) skip(n int64) error {
	f.synced = false
	at, err := unix.Seek(f.fd, n, io.SeekCurrent)
	if err != nil {
		return err
	}
	return again(func() error { return unix.Ftruncate(f.fd, at) })
}

func (f *stagedFile) handle() uintptr {
	f.synced = false // the caller changes the file through it
	return uintptr(f.fd)
}

func (f *stagedFile) sync() error {
	if f.synced {
		return nil
	}
	err := f.calls.sync(f.fd)
	f.synced = err == nil
	return err
}

func (f *stagedFile) setMode(mode uint32) error {
	f.synced = false
	return again(func() error { return unix.Fchmod(f.fd, mode) })
}

func (f *stagedFile) readAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+maxWrite)]
		n, err := retry(func() (int, error) { return unix.Pread(f.fd, part, off+int64(done)) })
		switch {
		case err != nil:
			return done, err
		case n == 0:
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

// close lets go of the file. Its content was written out to the disk by now, or nobody
// wants it.
func (f *stagedFile) close() {
	if f.fd >= 0 {
		_ = unix.Close(f.fd)
		f.fd = -1
	}
}
