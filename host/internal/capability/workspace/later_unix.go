//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"golang.org/x/sys/unix"
)

// Later collects directories in which names changed, to sync them together: then many
// commits in one directory wait for the disk once. Until Sync, what was committed may be
// lost in a power failure. It is for one goroutine.
type Later struct{ dirs map[inode]int }

type inode struct{ device, number uint64 }

// Together is how many commits can be prepared at a time, of so many: each holds descriptors until it is over, of
// which a process may have few.
func Together(most int) int {
	const each = 16 // twice what one holds with what it replaces, so that others have some
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1
	}
	return int(max(1, min(uint64(most), uint64(limit.Cur)/each))) //nolint:unconvert,gosec // its type differs by system
}

// note is calls.syncDir.
func (l *Later) note(dir int) error {
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return err
	}
	at := inode{uint64(st.Dev), st.Ino} //nolint:unconvert,gosec // its type differs by system
	if _, ok := l.dirs[at]; ok {
		return nil
	}
	held, err := unix.FcntlInt(uintptr(dir), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if l.dirs == nil {
		l.dirs = make(map[inode]int)
	}
	l.dirs[at] = held
	return nil
}

// Sync syncs the directories to the disk.
func (l *Later) Sync() error {
	var list []func() error
	for _, fd := range l.dirs {
		list = append(list, func() error {
			err := syncDirectory(fd)
			_ = unix.Close(fd) // it was read
			return err
		})
	}
	l.dirs = nil
	return together(list)
}

// Later makes Commit leave directories to l instead of syncing them.
func (d *Draft) Later(l *Later) { d.calls.syncDir = l.note }

// Later makes Commit and SetMode leave directories to l instead of syncing them.
func (s *Spot) Later(l *Later) { s.calls.syncDir = l.note }
