package paths

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// State tells whether a directory has changed: creating, removing or renaming anything in
// it sets the time of its last change, which no program can set back.
type State struct {
	device, inode    uint64
	changed, written syscall.Timespec
}

// settling is how long a directory must have been left alone before its next change is
// sure to show. File times come from the kernel's clock, which ticks every 10 ms at most.
const settling = 20 * time.Millisecond

// timed lists, by magic number, the file systems whose times come from the kernel's own
// clock at full resolution. Network file systems and those that count seconds are not
// among them.
var timed = []uint32{
	0xef53,     // ext4
	0x58465342, // XFS
	0x9123683e, // Btrfs
	0xf2f52010, // F2FS
	0x01021994, // tmpfs
	0x794c7630, // overlayfs
}

// RestingState returns the state of an open directory, and whether every change from now
// on will show in it.
func RestingState(d *os.File) (s State, lasts bool) { return resting(int(d.Fd())) }

func resting(fd int) (s State, lasts bool) {
	var in syscall.Statfs_t
	var stat syscall.Stat_t
	now := time.Now()
	if syscall.Fstatfs(fd, &in) != nil || syscall.Fstat(fd, &stat) != nil {
		return State{}, false
	}
	wait := settling
	if stat.Ctim.Nsec == 0 { // an old file system of the same kind may count seconds
		wait += time.Second
	}
	age := now.Sub(time.Unix(stat.Ctim.Unix()))
	return stateIn(&stat), age > wait && slices.Contains(timed, uint32(in.Type))
}

// RestingText is [RestingState] of a file or directory by its path, as a text.
func RestingText(path string) (text string, lasts bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	state, lasts := RestingState(f)
	return fmt.Sprintln(path, state), lasts
}

// restingAt returns the state of a directory by its path, the zero state if not every change from
// now on will show in it. The directory need not be readable.
func restingAt(path string) State {
	fd, err := syscall.Open(path, unix.O_PATH|syscall.O_CLOEXEC, 0)
	if err != nil {
		return State{}
	}
	defer syscall.Close(fd)
	if state, lasts := resting(fd); lasts {
		return state
	}
	return State{}
}

// StateOf returns the state of a directory by its path.
func StateOf(path string) (State, bool) {
	var stat syscall.Stat_t
	if syscall.Stat(path, &stat) != nil {
		return State{}, false
	}
	return stateIn(&stat), true
}

func stateIn(stat *syscall.Stat_t) State {
	return State{device: stat.Dev, inode: stat.Ino, changed: stat.Ctim, written: stat.Mtim}
}
