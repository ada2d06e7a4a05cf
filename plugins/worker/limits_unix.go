//go:build linux || darwin

package worker

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// maxFiles bounds the files that a child has open at once: three pipes, what the
// Go runtime opens, and the entries of the compile cache.
const maxFiles = 64

// apply bounds this process for good.
func (l limits) apply() error {
	bounds := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: maxFiles}
	if l.CPU > 0 {
		bounds[unix.RLIMIT_CPU] = uint64((l.CPU + time.Second - 1) / time.Second)
	}
	if l.FileSize > 0 {
		bounds[unix.RLIMIT_FSIZE] = uint64(l.FileSize)
	}
	if l.Memory > 0 {
		debug.SetMemoryLimit(l.Memory)
		if !raceEnabled {
			// The host looks how much is occupied, and says so when it ends the
			// process. The system's own limit is the backstop: it counts what is
			// mapped, and a Go program dies of it without a clear word.
			bounds[unix.RLIMIT_DATA] = uint64(l.Memory + max(l.Memory/4, 64<<20))
		}
	}
	for resource, bound := range bounds {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("reading a resource limit: %w", err)
		}
		// A limit that is tighter already stays.
		bound = min(bound, now.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: bound, Max: bound}); err != nil {
			return fmt.Errorf("setting a resource limit: %w", err)
		}
	}
	return nil
}

// closeInherited closes what the parent's process leaked into this one: files
// that are not marked for closing, as those that Go opens are.
func closeInherited() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

// pipes are the standard streams, under numbers of their own and in a form in
// which a read that waits takes no thread: what is read is then worked on at
// once, by the thread that read it.
func pipes() (in, out *os.File, err error) {
	var own [2]*os.File
	for i, name := range []string{"input", "output"} {
		fd, err := unix.FcntlInt(uintptr(i), unix.F_DUPFD_CLOEXEC, 3)
		if err == nil {
			err = unix.SetNonblock(fd, true)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("setting up the pipes: %w", err)
		}
		own[i] = os.NewFile(uintptr(fd), name)
	}
	return own[0], own[1], nil
}
