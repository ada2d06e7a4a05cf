//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import "golang.org/x/sys/unix"

// The bits of a mode.
const (
	modeOwner  = 0o700
	modeGroup  = 0o070
	modeOthers = 0o007
	// modePowers are set-uid and set-gid: new content does not inherit the powers
	// that somebody gave to the old, as the kernel has it for every write.
	modePowers = 0o6000
)

// keepAttributes gives a new file the owner, group, mode and extended attributes of
// the one that is held, as far as the host may, and never lets in more people. What was
// is that file as it is now: a person may have closed it since it was resolved.
func keepAttributes(n *Node, was Info, fd int) error {
	now, err := fstat(fd)
	if err != nil {
		return err
	}
	mode := was.Mode &^ modePowers
	if now.UID != was.UID || now.GID != was.GID {
		if !keepOwner(was, now, fd) {
			mode = withoutGroup(mode)
		}
	}
	if !copyAttributes(n, fd) {
		// The bits of the group were the most that an access control list allowed.
		mode &^= modeGroup | modeOthers
	}
	return again(func() error { return unix.Fchmod(fd, mode) })
}

// keepOwner reports whether the file got the group of the former. An owner that
// cannot be given away is the host's user, who could write to the file before.
func keepOwner(was, now Info, fd int) bool {
	if unix.Fchown(fd, int(was.UID), int(was.GID)) == nil {
		return true
	}
	return now.GID == was.GID || unix.Fchown(fd, -1, int(was.GID)) == nil
}

// withoutGroup is the mode of a file whose group changes: neither the new group's
// members nor the old one's, who are among the others now, may do what only one of
// the two could.
func withoutGroup(mode uint32) uint32 {
	both := mode >> 3 & mode & modeOthers
	return mode&^(modeGroup|modeOthers) | both<<3 | both
}
