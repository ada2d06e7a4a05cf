//go:build freebsd || netbsd || openbsd || dragonfly

package workspace

import "golang.org/x/sys/unix"

func syncFile(fd int) error { return again(func() error { return unix.Fsync(fd) }) }

func exchange(int, string, string) error { return unix.ENOSYS }

func move(int, string, string) error { return unix.ENOSYS }
