//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package plugins

import "syscall"

// systemStamp reads what package os leaves of a stat.
func systemStamp(sys any) (stamp, bool) {
	st, ok := sys.(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	modified, changed := times(st)
	return stamp{
		size: st.Size, modified: modified.Nano(), changed: changed.Nano(),
		inode: uint64(st.Ino), device: uint64(st.Dev), //nolint:unconvert // other systems have other widths
	}, true
}

// stampAt is the stamp of the regular file at a path. It follows links, and
// allocates next to nothing: it is asked of every installed plugin at every
// start.
func stampAt(path string) (stamp, bool) {
	var st syscall.Stat_t
	if syscall.Stat(path, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return stamp{}, false
	}
	return systemStamp(&st)
}
