package workspace

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// aclName is the attribute that holds a file's access control list.
const aclName = "system.posix_acl_access"

// contentBound are the attributes that are about the content, which is another now:
// the powers of a program, which the kernel takes off at every write, and hashes.
var contentBound = []string{"security.capability", "security.ima", "security.evm"}

// copyAttributes copies what extended attributes the host may, among them the label
// of SELinux. It reports whether the access control list, or that there is none, is
// that of the former file.
func copyAttributes(n *Node, fd int) bool {
	path := n.Real
	if hasProc() {
		path = procPath(n.held.fd)
	}
	names, err := attributeNames(path)
	if err != nil {
		return errors.Is(err, unix.ENOTSUP)
	}
	for _, name := range names {
		if name != aclName && !slices.Contains(contentBound, name) {
			_ = copyAttribute(path, fd, name) // as far as the host may
		}
	}
	if slices.Contains(names, aclName) {
		return copyAttribute(path, fd, aclName) == nil
	}
	err = unix.Fremovexattr(fd, aclName) // the directory's default
	return err == nil || errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP)
}

func attributeNames(path string) ([]string, error) {
	list, err := growing(func(buf []byte) (int, error) { return unix.Listxattr(path, buf) })
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00"), nil
}

func copyAttribute(path string, fd int, name string) error {
	value, err := growing(func(buf []byte) (int, error) { return unix.Getxattr(path, name, buf) })
	if err != nil {
		return err
	}
	return unix.Fsetxattr(fd, name, value, 0)
}

// growing calls with a small buffer, and if that is too small with one of the most
// that the kernel has for an attribute or a list of them.
func growing(call func(buf []byte) (int, error)) ([]byte, error) {
	const usual, most = 512, 64 << 10
	buf := make([]byte, usual)
	n, err := call(buf)
	if errors.Is(err, unix.ERANGE) {
		buf = make([]byte, most)
		n, err = call(buf)
	}
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// fixed tells of an attribute that forbids changes even to root, and how to take it
// off.
func fixed(n *Node) (attribute, undo string) {
	var st unix.Statx_t
	if unix.Statx(n.held.fd, "", unix.AT_EMPTY_PATH, unix.STATX_TYPE, &st) != nil {
		return "", ""
	}
	switch {
	case st.Attributes&unix.STATX_ATTR_IMMUTABLE != 0:
		return "immutable", "chattr -i"
	case st.Attributes&unix.STATX_ATTR_APPEND != 0:
		return "append-only", "chattr -a"
	}
	return "", ""
}
