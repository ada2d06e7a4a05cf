package workspace

import (
	"strings"

	"golang.org/x/sys/unix"
)

// copyAttributes copies what extended attributes the host may. Access control lists
// are none of them here and are not kept: they stay off a file that had one.
func copyAttributes(n *Node, fd int) bool {
	if n.held.fd < 0 {
		return true // a file that the host may not read
	}
	size, err := unix.Flistxattr(n.held.fd, nil)
	if err != nil || size == 0 {
		return true
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(n.held.fd, list); err != nil {
		return true
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:size]), "\x00"), "\x00") {
		if size, err := unix.Fgetxattr(n.held.fd, name, nil); err == nil {
			value := make([]byte, size)
			if size, err = unix.Fgetxattr(n.held.fd, name, value); err == nil {
				_ = unix.Fsetxattr(fd, name, value[:size], 0) // as far as the host may
			}
		}
	}
	return true
}
