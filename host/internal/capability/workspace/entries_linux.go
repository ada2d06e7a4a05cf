package workspace

import (
	"encoding/binary"
	"io"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// entriesBuffer is how much of a directory is read at once, in bytes: all of most.
// Measured, half of it is as fast, and a quarter is not.
const entriesBuffer = 64 << 10

// The layout of what getdents64 writes, in bytes.
const (
	direntLength = unsafe.Offsetof(unix.Dirent{}.Reclen)
	direntType   = unsafe.Offsetof(unix.Dirent{}.Type)
	direntName   = unsafe.Offsetof(unix.Dirent{}.Name)
)

// read adds the next entries to a list, or returns io.EOF.
func (d *Dir) read(e *Entries) error {
	if e.buf == nil {
		e.buf = make([]byte, entriesBuffer)
	}
	n, err := retry(func() (int, error) { return unix.Getdents(d.fd, e.buf) })
	switch {
	case err != nil:
		return fault(d.real, err)
	case n <= 0:
		return io.EOF
	}
	text := string(e.buf[:n]) // one copy for all names
	for len(text) >= int(direntName) {
		size := int(binary.NativeEndian.Uint16([]byte(text[direntLength : direntLength+2])))
		if size < int(direntName) || size > len(text) {
			break // no kernel writes that
		}
		record := text[:size]
		text = text[size:]
		name, _, _ := strings.Cut(record[direntName:], "\x00")
		if name != "." && name != ".." && name != "" {
			e.list = append(e.list, Entry{Name: name, Kind: d.kind(name, record[direntType])})
		}
	}
	return nil
}

// kind is what a directory says an entry is. Some file systems do not say; then
// the entry is looked at.
func (d *Dir) kind(name string, kind byte) string {
	switch kind {
	case unix.DT_REG:
		return abi.KindFile
	case unix.DT_DIR:
		return abi.KindDirectory
	case unix.DT_LNK:
		return abi.KindSymlink
	case unix.DT_UNKNOWN:
		if info, err := fstatat(d.fd, name); err == nil {
			return info.Kind
		}
	}
	return abi.KindOther
}
