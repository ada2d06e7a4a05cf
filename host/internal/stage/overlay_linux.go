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

// The attributes by which overlayfs marks entries of an upper directory, where it is
// mounted with userxattr.
const (
	overlayPrefix = "user.overlay."
	whiteoutAttr  = overlayPrefix + "whiteout"
	opaqueAttr    = overlayPrefix + "opaque"
)

// isWhiteout reports whether an entry says that something is removed.
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

// isOpaque reports whether nothing of the disk is seen in a directory.
func isOpaque(at string) bool {
	var value [4]byte
	n, err := unix.Lgetxattr(at, opaqueAttr, value[:])
	return err == nil && string(value[:n]) == "y"
}

// setOpaque has nothing be seen of what the disk has in a directory of the tree.
func setOpaque(at string) error { return unix.Lsetxattr(at, opaqueAttr, []byte("y"), 0) }

// clearOpaque has what the disk has be seen in a directory of the tree again.
func clearOpaque(at string) error {
	err := unix.Lremovexattr(at, opaqueAttr)
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// identity tells a file from others, and from what it was before it was written.
func identity(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(st.Ino, 10) + "-" + strconv.FormatInt(st.Ctim.Nano(), 10)
}

// names tells how many names a file has.
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

// give gives a directory of the tree to who owns the one of the disk, as far as the host
// may.
func give(at string, to workspace.Info) {
	if os.Geteuid() == 0 {
		_ = unix.Lchown(at, int(to.UID), int(to.GID)) // it is a matter of what a mounted tree shows
	}
}

// keepAttributes copies the extended attributes of a file of the tree to the one that was
// written from it, but for those of overlayfs and of the system. It returns those that
// could not be copied.
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
