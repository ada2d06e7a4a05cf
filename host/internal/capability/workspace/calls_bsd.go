//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import "golang.org/x/sys/unix"

// holdDir are the flags that take hold of a directory.
const holdDir = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW

// openUnnamed is for systems that have files without names.
func openUnnamed(int, uint32) (int, error) { return -1, unix.ENOSYS }

func linkUnnamed(int, int, string) error { return unix.ENOSYS }

// fixed has nothing to tell here: a rename fails by itself where a flag forbids it.
func fixed(*Node) (attribute, undo string) { return "", "" }
