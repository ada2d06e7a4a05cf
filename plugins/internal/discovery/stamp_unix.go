//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package discovery

import "syscall"

// systemStamp reads what package os leaves of a stat.
func systemStamp(sys any) (Stamp, bool) {
	st, ok := sys.(*syscall.Stat_t)
	if !ok {
		return Stamp{}, false
	}
	modified, changed := times(st)
	return Stamp{
		Size: st.Size, Modified: modified.Nano(), Changed: changed.Nano(),
		Inode: uint64(st.Ino), Device: uint64(st.Dev), //nolint:unconvert // other systems have other widths
	}, true
}

// stampAt is the stamp of the regular file at a path. It follows links, and
// allocates next to nothing: it is asked of every installed plugin at every
// start.
func stampAt(path string) (Stamp, bool) {
	var st syscall.Stat_t
	if syscall.Stat(path, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return Stamp{}, false
	}
	return systemStamp(&st)
}
