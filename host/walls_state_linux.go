package host

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// dirState tells whether a directory is as it was: whatever is made, removed or renamed
// in it sets the time of its last change, which nobody can set back.
type dirState struct {
	device, inode    uint64
	changed, written syscall.Timespec
}

// settling is how long a directory must have been left alone for the next change to show.
// The times of files stand still for as long as the kernel's clock does, which is 10 ms
// at most.
const settling = 20 * time.Millisecond

// timed are the file systems, by their magic numbers, whose times are of the kernel's own
// clock, and no coarser: not those of a server, nor such as count seconds.
var timed = []uint32{
	0xef53,     // ext4
	0x58465342, // XFS
	0x9123683e, // Btrfs
	0xf2f52010, // F2FS
	0x01021994, // tmpfs
	0x794c7630, // overlayfs
}

// stateAtRest is the state of a directory, and whether every change from now on shows in it.
func stateAtRest(d *os.File) (dirState, bool) {
	var in syscall.Statfs_t
	var stat syscall.Stat_t
	now := time.Now()
	if syscall.Fstatfs(int(d.Fd()), &in) != nil || syscall.Fstat(int(d.Fd()), &stat) != nil {
		return dirState{}, false
	}
	wait := settling
	if stat.Ctim.Nsec == 0 { // an old file system of the same kind may count seconds
		wait += time.Second
	}
	age := now.Sub(time.Unix(stat.Ctim.Unix()))
	return stateIn(&stat), age > wait && slices.Contains(timed, uint32(in.Type))
}

// restingState is the state of a file or directory as a text, and whether every change from
// now on shows in it.
func restingState(path string) (string, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	state, lasts := stateAtRest(f)
	return fmt.Sprintln(path, state), lasts
}

// stateOf is the state of a directory by its path.
func stateOf(path string) (dirState, bool) {
	var stat syscall.Stat_t
	if syscall.Stat(path, &stat) != nil {
		return dirState{}, false
	}
	return stateIn(&stat), true
}

func stateIn(stat *syscall.Stat_t) dirState {
	return dirState{device: stat.Dev, inode: stat.Ino, changed: stat.Ctim, written: stat.Mtim}
}
