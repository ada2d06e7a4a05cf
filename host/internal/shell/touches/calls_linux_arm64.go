package touches

import "golang.org/x/sys/unix"

// withOlder adds the calls that newer machines do without: this is one.
func withOlder(list map[uintptr]call) map[uintptr]call { return list }

// These make links.
const symlinkAt, symlink = unix.SYS_SYMLINKAT, unix.SYS_SYMLINKAT
