package stage

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// The extended attributes that overlayfs sets in an upper directory if it is mounted with
// userxattr.
const (
	overlayPrefix = "user.overlay."
	whiteoutAttr  = overlayPrefix + "whiteout"
	opaqueAttr    = overlayPrefix + "opaque"
)

// isWhiteout reports whether an entry is a whiteout, which means that the path is removed: a
// character device 0:0, or an empty file with the whiteout attribute.
func isWhiteout(at string, info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	switch info.Mode().Type() {
	case fs.ModeDevice | fs.ModeCharDevice:
		return st.Rdev == 0
	case 0:
		if info.Size() > 0 {
			return false
		}
		_, err := unix.Lgetxattr(at, whiteoutAttr, nil)
		return err == nil
	}
	return false
}

// isOpaque reports whether a directory of the tree hides what the disk has in it.
func isOpaque(at string) bool {
	var value [4]byte
	n, err := unix.Lgetxattr(at, opaqueAttr, value[:])
	return err == nil && string(value[:n]) == "y"
}

// setOpaque makes a directory of the tree hide what the disk has in it.
func setOpaque(at string) error { return unix.Lsetxattr(at, opaqueAttr, []byte("y"), 0) }

// clearOpaque makes a directory of the tree show what the disk has in it.
func clearOpaque(at string) error {
	err := unix.Lremovexattr(at, opaqueAttr)
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// identity distinguishes a file from others, and from its own state before a write, by its inode
// number and change time.
func identity(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(st.Ino, 10) + "-" + strconv.FormatInt(st.Ctim.Nano(), 10)
}

// names returns the number of hard links of a file.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // its type differs by architecture
	}
	return 1
}

// isSparse reports whether a file has holes.
func isSparse(info fs.FileInfo) bool {
	const block = 512
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Blocks*block < info.Size()
}

// give sets the owner of a directory of the tree to that of the directory on the disk, if the
// host is root.
func give(at string, to workspace.Info) {
	if os.Geteuid() == 0 {
		_ = unix.Lchown(at, int(to.UID), int(to.GID)) // it only affects the owner that commands see
	}
}

// keepAttributes copies the extended attributes user.* (except those of overlayfs) and
// security.capability of a staged file to the file that was written from it. It returns the names
// of those that could not be copied.
func keepAttributes(from, to uintptr) (lost []string) {
	buf := make([]byte, 64<<10)
	n, err := unix.Flistxattr(int(from), buf)
	if err != nil {
		return nil
	}
	for name := range strings.SplitSeq(string(buf[:n]), "\x00") {
		if name == "" || strings.HasPrefix(name, overlayPrefix) || !strings.HasPrefix(name, "user.") && name != "security.capability" {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := unix.Fgetxattr(int(from), name, value)
		if err == nil {
			err = unix.Fsetxattr(int(to), name, value[:n], 0)
		}
		if err != nil {
			lost = append(lost, name)
		}
	}
	return lost
}
