package touches

import "golang.org/x/sys/unix"

// withOlder adds nothing: this architecture does not have the older calls.
func withOlder(list map[uintptr]call) map[uintptr]call { return list }

// symlinkAt and symlink are the calls that make symbolic links.
const symlinkAt, symlink = unix.SYS_SYMLINKAT, unix.SYS_SYMLINKAT
