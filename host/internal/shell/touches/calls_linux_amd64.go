package touches

import (
	"maps"

	"golang.org/x/sys/unix"
)

// withOlder adds the older calls, which newer architectures do not have.
func withOlder(list map[uintptr]call) map[uintptr]call {
	maps.Copy(list, map[uintptr]call{
		unix.SYS_OPEN:    {verb: open, dir: none, path: 0, flags: 1},
		unix.SYS_CREAT:   {verb: open, dir: none, path: 0, flags: none},
		unix.SYS_MKDIR:   {verb: make_, dir: none, path: 0},
		unix.SYS_MKNOD:   {verb: make_, dir: none, path: 0},
		unix.SYS_SYMLINK: {verb: make_, dir: none, path: 1},
		unix.SYS_LINK:    {verb: link, dir: none, path: 0, flags: none, newDir: none, newPath: 1},
		unix.SYS_CHMOD:   {verb: alter, dir: none, path: 0, flags: none},
		unix.SYS_UNLINK:  {verb: remove, dir: none, path: 0},
		unix.SYS_RMDIR:   {verb: remove, dir: none, path: 0},
		unix.SYS_RENAME:  {verb: rename, dir: none, path: 0, flags: none, newDir: none, newPath: 1},
	})
	return list
}

// symlinkAt and symlink are the calls that make symbolic links.
const symlinkAt, symlink = unix.SYS_SYMLINKAT, unix.SYS_SYMLINK
