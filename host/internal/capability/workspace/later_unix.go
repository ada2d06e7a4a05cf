//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"golang.org/x/sys/unix"
)

// Later collects directories whose entries changed, to fsync each of them once: many commits
// in one directory then wait for the disk once. A power failure before Sync may undo what was
// committed. It is for one goroutine.
type Later struct{ dirs map[inode]int }

type inode struct{ device, number uint64 }

// Together returns how many of most commits can be prepared at the same time. Each holds descriptors until it ends,
// and the process has a limit on them.
func Together(most int) int {
	const each = 16 // twice what a commit needs with the file that it replaces, to leave some for others
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1
	}
	return int(max(1, min(uint64(most), uint64(limit.Cur)/each))) //nolint:unconvert,gosec // its type differs by system
}

// note stands in for calls.syncDir: it keeps a duplicate of the descriptor instead of syncing.
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

// Sync fsyncs the collected directories, and forgets them.
func (l *Later) Sync() error {
	var list []func() error
	for _, fd := range l.dirs {
		list = append(list, func() error {
			err := syncDirectory(fd)
			_ = unix.Close(fd) // nothing was written through it
			return err
		})
	}
	l.dirs = nil
	return together(list)
}

// Later makes Commit hand directories to l instead of syncing them.
func (d *Draft) Later(l *Later) { d.calls.syncDir = l.note }

// Later makes Commit and SetMode hand directories to l instead of syncing them.
func (s *Spot) Later(l *Later) { s.calls.syncDir = l.note }
