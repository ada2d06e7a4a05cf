//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// firstFile is the descriptor of the first of [Wrapped.Files], where nothing else is
// said.
const firstFile = 3

// scratchSize bounds folders in memory, in bytes: what lies there counts as no
// process's memory.
const scratchSize = 256 << 20

// emptySize is the smallest size, for folders in memory that stay empty. Their permissions
// forbid writing, and a command that changes them still finds no room. Remounting each
// read-only would take bubblewrap six times as long as mounting it.
const emptySize = 1

// features are what not every bubblewrap, or not every machine, has.
type features struct {
	// users says that there is a user namespace. Root can do without.
	users bool
	// noUsers says that further ones can be forbidden (0.8.0), in addition to the
	// system call filter.
	noUsers bool
	// size says that folders in memory can be bounded (0.7.0).
	size bool
}

// arguments are bubblewrap's, to the end of its own.
func (f features) arguments(program string, spec Spec, l *layout) []string {
	args := []string{filepath.Base(program)}
	first := cmp.Or(spec.FirstFile, firstFile)
	if f.users {
		args = append(args, "--unshare-user")
	}
	if f.noUsers {
		args = append(args, "--disable-userns")
	}
	args = append(args, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
	if spec.network() != NetworkAll {
		args = append(args, "--unshare-net")
	}
	args = append(args, "--die-with-parent", "--cap-drop", "ALL",
		"--seccomp", strconv.Itoa(first), "--block-fd", strconv.Itoa(first+1), "--info-fd", strconv.Itoa(first+2))
	args = append(f.mount(args, l.root()), "--dev", "/dev", "--proc", "/proc")
	if !spec.ReadOnly {
		args = f.scratch(args, "/dev/shm")
	}
	var closed []string
	for _, e := range l.entries {
		if e.target != "/" {
			args = f.mount(args, e)
		}
		if e.inMemory() && !f.leftOpen(e) {
			closed = append(closed, e.target)
		}
	}
	if os.Geteuid() == 0 {
		// What configures the kernel there asks for no capability but for that user.
		closed = append(closed, "/proc")
	}
	// Closed to changes only now that mounts in them need no more folders made. That
	// /dev is closed tells that all is done.
	for _, path := range append(closed, "/dev") {
		args = append(args, "--remount-ro", path)
	}
	if spec.Cwd != "" {
		args = append(args, "--chdir", spec.Cwd)
	}
	return append(args, "--")
}

// leftOpen says that a folder in memory is closed by its permissions alone.
func (f features) leftOpen(e *entry) bool { return e.inMemory() && !e.passage && f.size }

func (f features) scratch(args []string, path string) []string {
	return f.memory(args, scratchSize, "1777", path)
}

func (f features) memory(args []string, size int, perms, path string) []string {
	if f.size {
		args = append(args, "--size", strconv.Itoa(size))
	}
	return append(args, "--perms", perms, "--tmpfs", path)
}

// mount adds the arguments for an entry.
func (f features) mount(args []string, e *entry) []string {
	switch e.kind {
	case kindLink:
		return append(args, "--symlink", e.source, e.target)
	case kindScratch:
		return f.scratch(args, e.target)
	case kindEmpty:
		return f.memory(args, emptySize, "0555", e.target)
	case kindReadOnly, kindProtected, kindHiddenFile:
		return append(args, "--ro-bind", e.source, e.target)
	case kindWritable, kindPin:
		return append(args, "--bind", e.source, e.target)
	case kindHiddenDir:
		perms := "0000"
		if e.passage {
			perms = "0111"
		}
		return f.memory(args, emptySize, perms, e.target)
	}
	panic(errors.New("a kind without a mount"))
}
